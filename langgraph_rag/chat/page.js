// What the page does in the browser: it follows a question under way for a reader who is at the end, keeps settings and a
// question over a reload and the look for all tabs, and takes dropped files.
const page = document.documentElement;
const box = () => document.querySelector(".composer textarea");
const underWay = () => document.querySelector(".turn.running");
let follows = false, shown = () => {}, covering = () => {}, height = 0, moved = 0;

function toEnd() { scrollTo(0, page.scrollHeight); }

// In a narrow window the settings lie over the page: what they cover cannot have the focus while they are shown.
function cover(open, narrow) {
  const covers = open && innerWidth <= narrow;
  const covered = [...document.querySelectorAll(".q-header, .q-page-container, .q-footer")];
  const before = covered[0].inert;
  for (const part of covered) part.inert = covers;
  if (covers && !before) document.querySelector(".closing").focus();
  if (before && !open && !covered.some((part) => part.contains(document.activeElement)))
    document.querySelector(".menu").focus();
  covering = () => cover(open, narrow);
}

// A question has been asked.
function follow() { follows = true; toEnd(); }

// A plan has to be changed: show what is wrong with it, above its questions.
function attend(plan) {
  follows = false;
  const card = getHtmlElement(plan);
  card.querySelector("textarea").focus({preventScroll: true});
  card.scrollIntoView({block: "start"});
}

// A question is over: show its turn to a reader who followed it, and go back to the box unless the focus is elsewhere.
function settle(turn, where) {
  const at = document.activeElement;
  if (at === document.body || at.closest(".composer"))
    box().focus({preventScroll: true});
  if (!follows) return;
  follows = false;
  shown = () => getHtmlElement(turn).scrollIntoView({block: where});
  shown();
}

// A document is about to go, and the button that has the focus with it: its list takes the focus.
function keepFocus(list) {
  const place = getHtmlElement(list);
  new MutationObserver((_, observer) => {
    observer.disconnect();
    if (document.activeElement === document.body) place.focus({preventScroll: true});
  }).observe(place, {childList: true});
}

// The server is there: go on with what was chosen and written before the page was loaded anew, as after a new start of
// the server.
function resume() {
  if (localStorage.dark) Quasar.Dark.set(localStorage.dark === "true");
  if (sessionStorage.chosen) emitEvent("chosen", JSON.parse(sessionStorage.chosen));
  if (!sessionStorage.draft) return;
  box().value = sessionStorage.draft;
  box().dispatchEvent(new Event("input"));
  sessionStorage.removeItem("draft");
}

addEventListener("pagehide", () => {
  const unanswered = box()?.value || underWay()?.querySelector(".question").textContent;
  if (unanswered) sessionStorage.draft = unanswered;
});

addEventListener("resize", () => covering());

for (const event of ["wheel", "touchmove"])
  addEventListener(event, () => { moved = performance.now(); }, {passive: true});
for (const event of ["wheel", "touchmove", "keydown", "pointerdown", "click"])
  addEventListener(event, () => { shown = () => {}; }, {passive: true});

// Where the page has just grown or shrunk, the browser may have scrolled it, unless the reader's hand is at it.
addEventListener("scroll", () => {
  if (underWay() && (page.scrollHeight === height || performance.now() < moved + 200))
    follows = scrollY + innerHeight > page.scrollHeight - 40;
});

addEventListener("DOMContentLoaded", () => {
  const resized = () => {
    height = page.scrollHeight;
    page.style.setProperty("--composer", `${document.querySelector(".composer")?.offsetHeight ?? 0}px`);
    if (!underWay()) shown();
    else if (follows) toEnd();
  };
  new ResizeObserver(resized).observe(document.body);
  document.getElementById("popup").setAttribute("role", "alert");
});

// Where no element takes them, files that are dropped would open in place of the page.
for (const event of ["dragover", "drop"])
  addEventListener(event, (e) => { if (e.dataTransfer.types.includes("Files")) e.preventDefault(); });
addEventListener("drop", (e) => {
  const button = document.querySelector(".q-drawer .adding");
  if (button && e.dataTransfer.files.length)
    button.dispatchEvent(new CustomEvent("files", {detail: e.dataTransfer.files}));
});
