// A conversation with a method over `langgraph dev`: the answer as it grows, each step as it happens, a plan to approve.
import type { Message } from "@langchain/langgraph-sdk";
import { useStream } from "@langchain/langgraph-sdk/react";
import { useState } from "react";
import { createRoot } from "react-dom/client";
import type { EventsSchema as Step } from "./events";

type Plan = { question: string; plan: { question: string }[]; problem?: string };

const { server = "http://127.0.0.1:2024", graph = "cirag_chat" } = Object.fromEntries(
  new URLSearchParams(location.search),
);

/** Put a step into words; kinds that a later version may add are named only. */
function told(step: Step): string {
  switch (step.node) {
    case "retrieve":
    case "retrieve_for_entity":
      return `${step.query} → ${step.titles.join(", ")}`;
    case "integrate":
    case "think":
    case "reason":
      return step.thought;
    default:
      return "";
  }
}

function Chat() {
  const [steps, setSteps] = useState<Step[]>([]);
  const stream = useStream<{ messages: Message[] }, { CustomEventType: Step; InterruptType: Plan }>({
    apiUrl: server,
    assistantId: graph,
    fetchStateHistory: true, // an interrupt is read from the thread
    onCustomEvent: (step) => setSteps((before) => (step.node === "receive_question" ? [step] : [...before, step])),
  });
  const ask = (form: FormData) =>
    stream.submit({ messages: [{ type: "human", content: String(form.get("question")) }] });
  const plan = stream.interrupt?.value;

  return (
    <>
      {stream.messages.map((message) => (
        <p key={message.id}>
          <b>{message.type === "human" ? "You" : "Answer"}:</b> {String(message.content)}
        </p>
      ))}
      <ol>
        {steps.map((step, place) => (
          <li key={place}>
            {step.node} {told(step)}
          </li>
        ))}
      </ol>
      {plan && (
        <button onClick={() => stream.submit(undefined, { command: { resume: true } })}>
          Approve: {plan.plan.map((planned) => planned.question).join("; ")}
        </button>
      )}
      {stream.error != null && <p role="alert">{String(stream.error)}</p>}
      <form action={ask}>
        <input name="question" aria-label="Question" required />
        <button disabled={stream.isLoading}>Ask</button>
        <button type="button" disabled={!stream.isLoading} onClick={() => stream.stop()}>
          Stop
        </button>
      </form>
    </>
  );
}

createRoot(document.getElementById("page")!).render(<Chat />);
