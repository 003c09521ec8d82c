import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from langgraph_rag.errors import DocumentError
from langgraph_rag.tools.documents.files import read_documents
from langgraph_rag.tools.documents.html import read_html
from langgraph_rag.tools.documents.markdown import Section, read_markdown

_DOCS = sorted((Path(__file__).parents[1] / "docs").glob("*.md"))


def _texts(tmp_path: Path, html: str | bytes) -> dict[object, object]:
    page = tmp_path / "page.html"
    page.write_bytes(html.encode() if isinstance(html, str) else html)
    return {document["title"]: document["text"] for document in read_documents(page)}


def test_the_sections_of_the_main_part_are_passages_without_what_surrounds_them(tmp_path: Path) -> None:
    assert _texts(
        tmp_path,
        """<!doctype html><title>Mills of Tolmar - Atlas</title>
        <header><a href="/">Atlas</a></header><nav><ul><li>Rivers<li>Towns</ul></nav>
        <main>
          <article><header><h1>Mills of Tolmar <a href="#top">&para;</a></h1></header>
          <p>Three mills stand at<br>the Ister.<sup>[2]</sup>
          <h2>Upper Mill</h2><p hidden>Draft</p>
          <p>Built for 10<sup>4</sup> crowns by <a href="renk.html">Ada&nbsp;Renk</a>.<script>count()</script>
          <ul><li>Wheels: 2<li>Owner: Jon Hale</ul>
          <dl><dt>Miller<dd>Orla Vint</dl>
          <table><tr><th>Year<th>Event<tr><td>1883<td>A fire</table>
          </article>
        </main>
        <footer>Imprint</footer>""",
    ) == {
        "Mills of Tolmar": "Three mills stand at\nthe Ister.",
        "Upper Mill (Mills of Tolmar)": "Built for 10^4 crowns by Ada\u00a0Renk.\n\n- Wheels: 2\n- Owner: Jon Hale\n\n"
        "Miller: Orla Vint\n\n- Year: 1883; Event: A fire",
    }


def test_the_title_in_the_head_names_a_page_whose_headings_name_none(tmp_path: Path) -> None:
    assert list(_texts(tmp_path, "<title>The\n mill</title><hr><p>wheels: 2</p><hr><p>It stands.")) == ["The mill"]
    assert list(_texts(tmp_path, "<title>Site</title><h1>The mill</h1><p>It stands.")) == ["The mill"]
    assert list(_texts(tmp_path, "<p>It stands.<svg><title>Menu</title></svg>")) == ["page"]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<table><tr><th>Year<th>Builder<tr><td rowspan=2>1883<td>Ada<tr><td>Bo</table>",
         "- Year: 1883; Builder: Ada\n- Year: 1883; Builder: Bo"),
        ("<table><tr><td rowspan=3>A<td colspan=2>x<tr><td rowspan=2>B<td>y<tr><td>z</table>",
         "- A; x\n- A; B; y\n- A; B; z"),
        ("<table><thead><tr><th>A<th>B<th>C<tbody><tr><td rowspan=2 colspan=2>x<td>1<tr><td>2</table>",
         "- A: x; C: 1\n- A: x; C: 2"),
        ("<table><thead><tr><th>A<th>B<tbody><tr><td rowspan=0>x<td>1<tr><td>2<tbody><tr><td rowspan=9>y<td>3<tbody>"
         "<tr><td>z<td>4</table>", "- A: x; B: 1\n- A: x; B: 2\n- A: y; B: 3\n- A: z; B: 4"),
        ("<table><thead><tr><th colspan=0>A<th>B<tr><th>1<th>2<tbody><tr><td>x<td>y</table>", "- A 1: x; B 2: y"),
        ("<table><tr><th>A<th>B<th>C<tr><td rowspan=100 colspan=100>x<td colspan=x>1<tr><td>y<td>2</table>",
         "- A: x; B: 1\n- A: y; B: 2"),
        ("<table><tr><td rowspan=900000000>A<td colspan=x>b<tr><td>c</table>", "- A: b\n- A: c"),
        ("<table><thead><tr><th rowspan=2>Area<th colspan=2>2023<tr><th>Q1<th>Q2<tbody><tr><td>North<td>5<td>6</table>",
         "- Area: North; 2023 Q1: 5; 2023 Q2: 6"),
        ("<table><thead><tr><th>A<th rowspan=9>B<tr><th>C<tr><th><tbody><tr><td>1<td>2</table>", "- A C: 1; B: 2"),
        ("See below.<table><caption>Mills</caption><colgroup><col><tr><th>Name<th>Age<tr><td>Ada<td>5</table>",
         "See below.\n\nMills\n\n- Name: Ada; Age: 5"),
        ("<table><tbody><tr><th>Name<th>Age<tr><td>Bo<td>6<tbody><tr><td>Ada<td>5</table>",
         "- Name: Bo; Age: 6\n- Name: Ada; Age: 5"),
        ("<table><tr><td>Kell is an island.<table><tr><th>Mayor<td>Ada Moss</table></table>",
         "Kell is an island.\n\n- Mayor: Ada Moss"),
        ('See <img src="./Kell - Atlas_files/map.png" alt="A map [1]">.', "See A map [1]."),
        ("The class [^abc] [[x]] matches; for %%i in (a) do echo %%i.",
         "The class [^abc] [[x]] matches; for %%i in (a) do echo %%i."),
        ("<ul><li>Config:<pre>- name: x\n- b: 2</pre></ul>", "- Config:\n  ```\n  - name: x\n  - b: 2\n  ```"),
        ("See below.<details><summary>More</summary>Inside</details>", "See below.\n\nMore\n\nInside"),
    ],
)  # fmt: skip
def test_what_markdown_would_write_otherwise_is_kept(tmp_path: Path, html: str, text: str) -> None:
    assert list(_texts(tmp_path, html).values()) == [text]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("Costs <del>800</del><ins>950</ins> crowns.", "Costs 950 crowns."),
        ("Costs <s>800</s> 950, <strike>not</strike> more.", "Costs 950, more."),
        ("It <span style='text-decoration: line-through red'>stands</span> burned.", "It burned."),
        ("<style>a:hover, .c3{color:red}.c1, p .c2 {text-decoration: underline line-through}</style>"
         "<p>Costs <span class=c1>800</span> 950 or <span class='x c2'>five</span> <span class=c3>six</span>",
         "Costs 950 or six"),
        ("<style>/* old */ #p, a:hover {text-decoration: line-through}</style>Costs <b id=p>800</b> <a>950</a>.",
         "Costs 950."),
        ("<p>Costs <SPAN STYLE='TEXT-DECORATION: LINE-THROUGH'>800</SPAN> 950.", "Costs 950."),
        ("<p><span>Costs </span><s>800</s><span> 950 </span> <b> or</b><s> so</s><span>.</span>", "Costs 950 or."),
        ("<p>Old.<br></p><p><br></p><div>Tall.<br></div>So<br>on.<br><br>Wet.<address>Kell</address>5",
         "Old.\n\nTall.\n\nSo\non.\n\nWet.\n\nKell\n\n5"),
        ("<p>It <a href=x>views the page source</a>.<div><a href=x>Edit this page on GitHub</a></div>"
         "<ul><li><a href=x>View page source</a></ul>", "It views the page source."),
        ("<h2>Harl<span class=mw-editsection>[<a href=x>edit</a>]</span></h2>Old.<div class=navbox><a href=x>Kell</a>, "
         "a town</div><div id=catlinks>Category: <a href=x>Towns</a></div>", "Old."),
        ("<p>It <s>stood</s> <s>burned</s> fell.", "It fell."),
        ("<p>It <i>never</i> <del>stood</del> <b>fell</b>.", "It never fell."),
        ("<ul><li><del>Gone</del><li>There</ul>", "- There"),
        ("Was <s>old</s>.<p><del>All of it.</del></p>", "Was."),
        ("<ruby>水車<rp>(</rp><rt>すいしゃ</rt><rp>)</rp></ruby>が回る", "水車が回る"),
        ("<table><tr><td><th>Q1<th>Q2<tr><th>North<td>5<td>6</table>", "- North; Q1: 5; Q2: 6"),
        ("All.<table><tr><th colspan=2>Mills<tr><th>Name<th>Year<tr><td>Harl<td>1883</table>",
         "All.\n\nMills\n\n- Name: Harl; Year: 1883"),
        ("All.<table><thead><tr><th colspan=2>Mills<tr><td>Name<td>Year<tbody><tr><td>Harl<td>1883</table>",
         "All.\n\nMills\n\n- Name: Harl; Year: 1883"),
        ("<table><tr><td><b>Name</b><td><strong>Year</strong><tr><td>Harl<td>1883</table>", "- Name: Harl; Year: 1883"),
        ("<table><tr class=header><td>Name<td>Year<tr><td>Harl<td>1883</table>", "- Name: Harl; Year: 1883"),
        ("<table><tr><td class=tablehead>Name<td class=tablehead>Year<tr><td>Harl<td>1883</table>",
         "- Name: Harl; Year: 1883"),
        ("<table><tr style='font-weight: bold'><td>Mill<td>Owner<tr><td>Harl<td>Ada</table>",
         "- Mill: Harl; Owner: Ada"),
        ("<table><tr bgcolor=#ccc><td>Mill<td>Owner<tr><td>Harl<td>Ada</table>", "- Mill: Harl; Owner: Ada"),
        ("<table><tr bgcolor=#ccc><td>Harl<td>Ada<tr><td>Kell<td>Bo<tr bgcolor=#ccc><td>Tolm<td>Cy</table>",
         "- Harl: Ada\n- Kell: Bo\n- Tolm: Cy"),
        ("<table><tr><td>Mill<td>Owner<td>Share (%)<tr><td>Harl<td>Ada<td>5<tr><td>Kell<td>Bo<td>9</table>",
         "- Mill: Harl; Owner: Ada; Share (%): 5\n- Mill: Kell; Owner: Bo; Share (%): 9"),
        ("<table><tr><td>Mill<td>Owner<td>Built<tr><td>Harl<td>Ada<td>1883<tr><td>Kell<td>Bo<td>1901</table>",
         "- Mill: Harl; Owner: Ada; Built: 1883\n- Mill: Kell; Owner: Bo; Built: 1901"),
        ("<table><tr><td>Harl<td>Ada<td>unknown<tr><td>Tolm<td>Cy<td>1883<tr><td>Kell<td>Bo<td>1901</table>",
         "- Harl; Ada; unknown\n- Tolm; Cy; 1883\n- Kell; Bo; 1901"),
        ("<table><tr><td>Mill<td>2021<br>wheat<td>Rye<tr><td>Harl<td>5<td>6</table>", "- Mill; 2021 wheat; "
         "Rye\n- Harl; 5; 6"),
        ("<table><tr><td>Mill<td>Wheat<td>Rye<tr><td>Harl<td>5 t<td>6.5<tr><td>Kell<td>1,200<td>-</table>",
         "- Mill: Harl; Wheat: 5 t; Rye: 6.5\n- Mill: Kell; Wheat: 1,200; Rye: -"),
        ("<table><tr><td>Name<td>Harl<tr><td>Year<td>1883<tr><td>Wheels<td>2</table>",
         "- Name: Harl\n- Year: 1883\n- Wheels: 2"),
        ("<table><tr><th>Name<th>Year<tr><th colspan=2>Ister<tr><td>Harl<td>1883<tr><th colspan=2>Kell<tr><td>"
         "Old<td>1700"
         "<tr><td colspan=2>Counted in 1900.</table>",
         "- Ister; Name: Harl; Year: 1883\n- Kell; Name: Old; Year: 1700\n\nCounted in 1900."),
        ("<table><thead><tr><th>Item<th>2030<th>2031<tbody><tr><td>Assets<td><td><tr><td>Cash<td>5<td>6<tr>"
         "<td>Debts<td><td>"
         "<tr><td>Rent<td>7<td>8</table>", "- Assets; Item: Cash; 2030: 5; 2031: 6\n- Debts; Item: Rent; 2030: 7;"
         " 2031: 8"),
        ("<table><tr><th>Name<th>Phone<th>Mail<tr><td>Ada<td>5<td>a<tr><td>Bo<td><td><tr><td>Cy<td>7<td>c</table>",
         "- Name: Ada; Phone: 5; Mail: a\n- Name: Bo\n- Name: Cy; Phone: 7; Mail: c"),
        ("<table><tr><th colspan=2>Harl<tr><td colspan=2><img src=x><tr><th>Town<td>Kell<tr><th colspan=2>Wheels"
         "<tr><th>"
         "Number<td>2</table>", "- Harl; Town: Kell\n- Wheels; Number: 2"),
        ("<table><tr><th>Name<th>Age<tr><td>Ada<td>5<tr><th>Name<th>Age<tr><td>Bo<td>6<tr><td colspan=2><hr></table>",
         "- Name: Ada; Age: 5\n- Name: Bo; Age: 6"),
        ("<table><thead><tr><th>Item<th>Cost<tfoot><tr><td>All<td>9<tbody><tr><td>Rye<td>9</table>",
         "- Item: Rye; Cost: 9\n- Item: All; Cost: 9"),
        ("<table><tr><td>Area<td>2030<td>2031<tr><td>North<td>5<td>6<tr><td>South<td>7<td>8</table>",
         "- Area: North; 2030: 5; 2031: 6\n- Area: South; 2030: 7; 2031: 8"),
        ("<table><tr><td>Ada<td>1850<td>1931<tr><td>Bo<td>1848<td>1930</table>", "- Ada; 1850; 1931\n- Bo; 1848; 1930"),
        ("<table><tr><th>Role<th>Does<th>No<tr><td>Miller<td><ul><li>grinds<li><p>sweeps</p></ul><td>1</table>",
         "- Role: Miller; Does: grinds, sweeps; No: 1"),
        ("<div role=table><div role=rowgroup><div role=row><span role=columnheader>Name</span><span"
         " role=columnheader>Age"
         "</span></div></div><div role=rowgroup><div role=row><span role=cell>Ada</span><span role=cell>5</span></div>"
         "</div></div>", "- Name: Ada; Age: 5"),
        ("<table><tr><th>Key<th>Type<th>Meaning<tr><td>size<td>int<td><p>How large.<p>In feet.<tr><td>name<td>"
         "str<td>How named."
         "</table>", "size:\n\n  Type: int\n\n  How large.\n\n  In feet.\n\nname:\n\n  Type: str\n\n  How named."),
        ("All.<dl><dt>size = 5<dd><dt>name<dd>How named.<dt>How wide?<dd>Two feet.<dt>old</dl>",
         "All.\n\nsize = 5\n\nname: How named.\n\nHow wide?\n\nTwo feet.\n\nold"),
        ("So:<pre><code><span class=lineno>1</span><span class=k>if</span> x:<br>  <b>y</b>\n</code><button>"
         "Copy</button></pre>",
         "So:\n\n```\nif x:\n  y\n```"),
        ("<table><tr><th>Key<th>Use<tr><td><code>a|b</code><td>c|d</table>", "- Key: a|b; Use: c|d"),
        ("<ol start=4><li>A<li value=9>B</ol>so<ol start=10><li>C</ol>", "- 4. A\n- 9. B\n\nso\n\n- 10. C"),
        ("<ol type=a><li>x<li><p>y</p></ol><ol type=I start=3><li>z</ol>", "- a. x\n- b. y\n- III. z"),
        ("<ol reversed><li>x<li>y</ol>", "- 2. x\n- 1. y"),
        ("<ol style='list-style-type: lower-roman'><li>x<li>y</ol>", "- i. x\n- ii. y"),
        ("<style>li::marker {content: counters(list-item, '.') '. '}</style>"
         "<ol><li>Use<ol><li>By day<li>By night</ol></ol>",
         "- 1. Use\n- 1. Use: 1.1. By day\n- 1. Use: 1.2. By night"),
        ("<style>.a>li:before {content: '' counter(a,decimal) '. '} .a>li {counter-increment: a}"
         ".b>li {counter-increment: b} ol.a.start {counter-reset: a 0} ol.b.start {counter-reset: b 0}"
         ".b>li:before {content: counter(a,decimal) '.' counter(b,lower-latin) '\\00a0'}</style>"
         "<ol class='a start'><li>Use</ol><ol class='b start'><li>By day<li>By night</ol>So<ol class=a><li>Fee</ol>"
         "<ol class='b start'><li>Due</ol>",
         "- 1. Use\n- 1.a By day\n- 1.b By night\n\nSo\n\n- 2. Fee\n- 2.a Due"),
        ("<style>ol {list-style: none} .r, #q ol {list-style-type: upper-roman}</style>"
         "<ol><li>x</ol>or<ol class=r><li>y</ol>",
         "- 1. x\n\nor\n\n- I. y"),
        ('So <math><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>.', "So E = mc^2."),
        ('So <span class="katex"><span class="katex-mathml"><math><semantics><mrow><msub><mi>a</mi><mn>1</mn>'
         '</msub></mrow>'
         '<annotation>a_1</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">'
         'a1</span></span>.',
         "So a_1."),
        ('So <span class="mwe-math-element"><span style="display: none;"><math><mfrac><mi>a</mi><mrow><mi>b</mi>'
         '<mo>+</mo>'
         '<mn>1</mn></mrow></mfrac></math></span><img alt="a/b" aria-hidden="true"></span>.', "So a/(b + 1)."),
        ('So <span class="MathJax">xy</span><script type="math/tex">xy</script>, <script type="math/tex">c^2</script>.',
         "So xy, c^2."),
        ("So <math><mi>f</mi><mo>&#x2061;</mo><mrow><mo>(</mo><mi>x</mi><mo>)</mo></mrow><mo>=</mo><mi>sin</mi>"
         "<mo>&#x2061;"
         "</mo><mi>x</mi><mspace/><mtext>if </mtext><mi>x</mi></math>, <math><mmultiscripts><mi>U</mi><none/><mi>a</mi>"
         "<mprescripts/><mn>92</mn><mn>238</mn></mmultiscripts></math>", "So f(x) = sin x if x, _92^238U^a"),
        ("So $$a_1$$, $b^2$ and $5 or $6; x<sup>n+1</sup>, 2<sup>n</sup>, e<sup>-x</sup>, 3<sup>rd</sup>, Ada<sup>a"
         "</sup>.",
         "So a_1, b^2 and $5 or $6; x^(n+1), 2^n, e^(-x), 3rd, Adaa."),
        ("<p>All.<table class='ltx_equation ltx_eqn_table'><tr><td><td><math><mi>a</mi></math><td><math><mo>=</mo>"
         "<mi>b</mi>"
         "</math><td>(1)</table><div class=math><span class=eqno>(2)</span>\\[c = d\\]</div>",
         "All.\n\na = b (1)\n\n(2) c = d"),
        ("<math><msqrt><mo>-</mo><mi>x</mi></msqrt></math> and <math alttext='y'></math>", "√(-x) and y"),
    ],
)  # fmt: skip
def test_what_a_reader_sees_of_a_page_is_its_text(tmp_path: Path, html: str, text: str) -> None:
    assert list(_texts(tmp_path, html).values()) == [text]


@pytest.mark.parametrize(
    "page",
    [
        # pandoc, kramdown, GitHub, Sphinx, LaTeXML, Asciidoctor, a margin note
        '<p>Harl was built in 1883<a href="#fn1" class="footnote-ref" role="doc-noteref"><sup>1</sup></a>.</p>'
        "<section class="
        '"footnotes" role="doc-endnotes"><hr><ol><li id="fn1"><p>By Ada.<a href="#fnref1" class="footnote-back">'
        "↩︎</a></ol>",
        '<p>Harl was built in 1883<sup id="fnref:1"><a href="#fn:1" class="footnote">1</a></sup>.</p><div '
        'class="footnotes">'
        '<ol><li id="fn:1"><p>By Ada. <a href="#fnref:1" class="reversefootnote">&#8617;</a></p></li></ol></div>',
        '<p>Harl was built in 1883<sup><a href="#user-content-fn-1" data-footnote-ref>1</a></sup>.</p><section '
        "data-footnotes "
        'class="footnotes"><ol><li><p>By Ada. <a href="#user-content-fnref-1" data-footnote-backref>↩</a></p>'
        "</ol></section>",
        '<p>Harl was built in 1883 <a class="footnote-reference brackets" href="#id2"><span>[</span>1<span>'
        "]</span></a>.</p>"
        '<aside class="footnote brackets"><span class="label">[<a href="#id1">1</a>]</span><p>By Ada.</p></aside>',
        '<p>Harl was built<span class="ltx_note ltx_role_footnote"><sup class="ltx_note_mark">1</sup><span class='
        '"ltx_note_outer"><span class="ltx_note_content"><sup class="ltx_note_mark">1</sup><span '
        'class="ltx_tag_note ltx_tag">1'
        "</span>By Ada.</span></span></span> in 1883.</p>",
        # Word, Google Docs, LibreOffice
        '<p>Harl was built in 1883<a href="#_ftn1" name="_ftnref1"><span>[1]</span></a>.</p><br clear=all><div'
        " id=ftn1><p>"
        '<a href="#_ftnref1" name="_ftn1">[1]</a> By Ada.</p></div>',
        '<p>Harl was built in 1883<sup><a href="#ftnt1">[1]</a></sup>.</p><div><p><a href="#ftnt_ref1">[1]</a>'
        "<span>&nbsp;"
        "By Ada.</span></p></div>",
        '<p>Harl was built in 1883<a class="sdfootnoteanc" href="#sdfootnote1sym"><sup>1</sup></a>.</p><div><p><a'
        " class="
        '"sdfootnotesym" href="#sdfootnote1anc">1</a>By Ada.</p></div>',
        '<p>Harl was built in 1883<sup>[<a href="#_note1">1</a>]</sup>.</p><div id="footnotes"><p>By Ada.</p></div>',
        '<p>Harl was built<label for="n" class="margin-toggle">1</label><span class="sidenote">By Ada.</span> '
        "in 1883.</p>",
    ],
)
def test_notes_are_paragraphs_below_the_text_that_they_are_of(tmp_path: Path, page: str) -> None:
    assert list(_texts(tmp_path, page).values()) == ["Harl was built in 1883.\n\nBy Ada."]


@pytest.mark.parametrize(
    "tabs",
    [
        "<ul role=tablist><li role=tab>Linux<li role=tab>Windows</ul><div role=tabpanel>By apt.</div>"
        "<div role=tabpanel hidden>By hand.</div>",
        "<div role=tablist><button role=tab aria-controls=a>Linux</button><button role=tab aria-controls=b>"
        "Windows</button>"
        "</div><div id=a role=tabpanel>By apt.</div><div id=b role=tabpanel aria-hidden=true>By hand.</div>",
        '<ul role=tablist><li><a role=tab href="#a">Linux</a><li><a role=tab href="#b">Windows</a></ul><div '
        'class="tab-pane '
        'active" id=a>By apt.</div><div class="tab-pane" id=b style="display: none">By hand.</div>',
        "<ul><li><a href='#a'>Linux</a><li><a href='#b'>Windows</a></ul><div id=a>By apt.</div><div id=b>By hand."
        "</div>",
        "<details><summary><h3>Linux:</h3></summary>By apt.</details><div>Windows:</div><div itemprop=acceptedAnswer "
        "style='display:none'>By hand.</div>",
        "<h2><button aria-expanded=true>Linux:</button></h2><div>By apt.</div><button aria-expanded=false "
        "aria-controls=b>"
        "Windows:</button><div id=b hidden>By hand.</div>",
    ],
)
def test_all_tabs_and_answers_are_read_below_their_labels(tmp_path: Path, tabs: str) -> None:
    page = f"<h1>Install</h1><p>So:</p>{tabs}<div id=m class=menu hidden><a href=x>Home</a></div><button>Copy</button>"
    read = "\n".join(f"{title}\n{text}" for title, text in _texts(tmp_path, page).items()).split()

    assert " ".join(read).replace(" (Install)", "").removeprefix("Install So: ") == "Linux: By apt. Windows: By hand."


@pytest.mark.parametrize(
    "navigation",
    [
        '<table summary="Navigation header"><tr><th colspan=3>1. Mills<tr><td><a accesskey=p href=a>Prev</a><th>'
        "Part I<td>"
        "<a accesskey=n href=b>Next</a></table>",
        '<div class="nav-panel"><p>Next: <a href=b accesskey=n>Using</a>, Up: <a href=c accesskey=u>Top</a></p></div>',
        '<div class="header"><p>Next: <a href=b accesskey=n rel=next>Using</a>, Up: <a href=c accesskey=u'
        " rel=up>Top</a> "
        "&nbsp; [<a href=i rel=index>Index</a>]</p></div>",
        "<aside class=md-source-file>January 5</aside><form class=md-feedback><legend>Was this helpful?</legend>"
        "</form>",
        '<div class=toc><p><b>Table of Contents</b></p><dl><dt><a href="#a">1.1. Wheels</a><dt><a href="#b">'
        "1.2. Dams</a></dl></div>",
        '<div class="sphinxsidebar"><h3>Mills</h3><ul><li><a href=a>Wheels</a><li><a href=b>Dams</a></ul></div>',
        '<div class="topNav"><ul class="navList"><li><a href=o>Overview</a><li>Class</ul></div><div '
        'class="subNav"><div>Summary: '
        "Nested | Field</div></div>",
        '<div class="md-sidebar"><ul><li class=md-nav__item><a href=a>Wheels</a></ul></div>',
        '<ul class="pagination"><li><a href=a>Mills</a><li><a href=b>Dams</a></ul>',
        "<p><a href=a>&laquo; Previous</a> <a href=b>Next &raquo;</a></p>",
    ],
)
def test_navigation_of_documentation_is_no_text(tmp_path: Path, navigation: str) -> None:
    page = f"<title>x</title>{navigation}<h2>1.&nbsp;Mills</h2><p>See <a href=c>the dams</a>.</p>{navigation}"

    assert _texts(tmp_path, page) == {"1. Mills": "See the dams."}


def test_a_page_named_after_its_menu_is_read_though_it_only_leads_on(tmp_path: Path) -> None:
    page = "<div class=grid-for-nav><nav>Menu</nav><h1>Mills</h1><ul><li><a href=a>Harl</a><li><a href=b>Kell</a></ul>"

    assert _texts(tmp_path, page) == {"Mills": "- Harl\n- Kell"}


@pytest.mark.parametrize(
    "box",
    [
        "<div class=note><h3>Note</h3>{}</div>",
        "<aside><h2>Aside</h2>{}</aside>",
        "<div class='admonition tip'><h4>A tip</h4>{}</div>",
        "<div><h3>Warning</h3>{}</div>",
    ],
)
def test_a_box_ends_where_it_ends(tmp_path: Path, box: str) -> None:  # fmt: skip
    page = (
        f"<h1>Mill</h1><p>It stands.</p>{box.format('<p>It is wet.</p>')}<p>Since 1883.</p><h2>Dam</h2><p>Of oak.</p>"
    )

    texts = _texts(tmp_path, page)

    assert list(texts) == ["Mill", "Dam (Mill)"]
    assert str(texts["Mill"]).endswith("It is wet.\n\nSince 1883.")


def test_a_title_with_no_break_spaces_is_not_repeated(tmp_path: Path) -> None:
    page = "<title>1. Mills</title><h1>1.&nbsp;Mills</h1><p>Two.<h2>1.1.&nbsp;Harl</h2><p>Old."

    assert list(_texts(tmp_path, page)) == ["1. Mills", "1.1. Harl (1. Mills)"]


def test_a_page_of_several_titles_does_not_repeat_that_of_its_head_and_authors_are_no_headings(tmp_path: Path) -> None:
    head = "<title>Mills (Atlas)</title><h1>Mills (Atlas)</h1><h3 class=AUTHOR>Ada</h3>"
    page = f"{head}<p>Old.<h1>Contents</h1><h2>Dams</h2>Of oak."

    assert _texts(tmp_path, page) == {"Mills (Atlas)": "Ada\n\nOld.", "Dams (Mills, Atlas)": "Of oak."}


def test_headings_have_the_numbers_that_a_style_sheet_counts(tmp_path: Path) -> None:
    style = (
        "body {counter-reset: h} h2 {counter-reset: sub} h2::before {counter-increment: h; content: counter(h) '. '}"
        "h3::before {counter-increment: sub; content: counter(h) '.' counter(sub) ' '}"
    )
    page = f"<style>{style}</style><h1>Lease</h1><h2>Use</h2><p>a<h3>Day</h3><p>b<h3>Night</h3><p>c<h2>Fee</h2><p>d"

    assert list(_texts(tmp_path, page)) == [
        "1. Use (Lease)", "1.1 Day (Lease, 1. Use)", "1.2 Night (Lease, 1. Use)", "2. Fee (Lease)",
    ]  # fmt: skip


@pytest.mark.parametrize("document", _DOCS, ids=lambda document: document.stem)
def test_a_page_made_from_markdown_reads_as_the_markdown_does(document: Path) -> None:
    markdown = re.sub(r"<!--.*?-->", "", document.read_text().replace("\n::: ", "\n\n"), flags=re.DOTALL)
    page = read_html(MarkdownIt("commonmark").enable("table").render(markdown))
    title, sections, _ = read_markdown(markdown)
    title_of_page, sections_of_page, _ = read_markdown(page.markdown)

    assert (title_of_page, [*map(_words, sections_of_page)]) == (title, [*map(_words, sections)])


def _words(section: Section) -> tuple[tuple[str, ...], list[str]]:
    return section.headings, re.sub(r"```\w*", "```", section.text).split()


@pytest.mark.parametrize(
    "written",
    [
        "<p>Zoë".encode("utf-16"),
        "<meta charset=windows-1252><p>Zoë".encode("windows-1252"),
        "<?xml version='1.0' encoding='ISO-8859-1'?><html><body><p>Zoë</p></body></html>".encode("latin-1"),
    ],
)
def test_a_page_is_read_in_the_encoding_that_it_declares(tmp_path: Path, written: bytes) -> None:
    assert list(_texts(tmp_path, written).values()) == ["Zoë"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (b"", "the file is empty"),
        (
            b"<title>App</title><div id=root></div><script>start()</script>",
            "expected a page with text, got one without",
        ),
        (b"<table><tr><td><td></table>", "expected a page with text, got one without"),
        (b"<p>Zo\xeb", "expected UTF-8 text, got byte 0xeb at 5"),
        (b"<meta charset=klingon><p>Zo\xeb", "expected UTF-8 text, got byte 0xeb"),
        (b"<meta charset=shift_jis><p>Zo\xeb<", "expected CP932 text, got byte 0xeb"),
        (b"<meta charset=undefined><p>Zo\xeb", "expected UTF-8 text, got byte 0xeb"),
        (b"\x89PNG\r\n\x00\x00", "expected UTF-8 text, got byte 0x89 at 0"),
    ],
)
def test_a_page_that_cannot_be_read_is_an_error(tmp_path: Path, written: bytes, expected: str) -> None:
    with pytest.raises(DocumentError, match=expected):
        _texts(tmp_path, written)


@pytest.mark.parametrize("tags", ["<div>" * 5_000, "<ul><li>" * 2_000, "<![foo[ x ]]>", "<p><b>" * 3_000])
def test_nothing_is_lost_of_a_page_that_is_nested_too_deeply_or_broken(tags: str) -> None:
    assert "The mill stands." in read_html(f"{tags}The mill stands.").markdown


def test_what_stands_above_the_first_heading_and_is_mostly_links_is_left_out(tmp_path: Path) -> None:
    links = (
        '<p><a href="a">Modules</a> | <a href="b">Words</a></p><p>Version 2</p><div><a href="c">Mills</a> &gt; </div>'
    )
    text = "<div><h1>Wheels</h1><p>A wheel has twelve paddles.</p></div>"
    author = '<p>By <a href="a">Ada Moss</a>, who has kept the mill for years.</p>'

    assert _texts(tmp_path, f"<body>{links}{text}</body>") == {"Wheels": "A wheel has twelve paddles."}
    told = tmp_path / "told.html"
    told.write_text(f"<body>{author}{text}</body>")
    assert "By Ada Moss, who has kept the mill for years." in [document["text"] for document in read_documents(told)]


def test_code_with_ends_of_lines_keeps_them(tmp_path: Path) -> None:
    code = "<p><code>cp mill /usr/bin <br>chmod 511 mill<br /></code></p><p>Or <code>a<br>b</code>.</p>"
    text = str(_texts(tmp_path, f"<h1>Run</h1>{code}")["Run"])

    assert "cp mill /usr/bin\nchmod 511 mill" in text
    assert "a b" in text and "\\" not in text


GENERATED = {
    "DocBook's box beside its picture": (
        "<h1>Mill</h1><div class=warning><table><tr><td rowspan=2><img alt='[Warning]'><th>Warning<tr><td><p>Mind it."
        "</table></div><p>On.",
        "Warning\n\nMind it.\n\nOn.",
    ),
    "Javadoc's table": (
        "<ul class=summary-list><li><section><h2>Methods</h2><div class=table-tabs><button>All</button></div>"
        "<div class='summary-table two-column-summary'><div class=table-header>Method</div><div class=table-header>"
        "Description</div><div><code>grind()</code></div><div>Grinds.</div></div></section></ul>",
        "- Method: grind(); Description: Grinds.",
    ),
    "Doxygen's head and foot": (
        "<div id=top><div id=titlearea>Mill 1.0</div><div class=tabs><ul class=tablist><li><a>Main Page</a>"
        "<li><a>Classes</a></ul></div></div><div class=headertitle><div class=title>Mill Class</div></div><p>Grinds."
        "<hr class=footer><address class=footer>Generated by Doxygen 1.9</address>",
        "Grinds.",
    ),
    "answers that unfold": ("<dl><dt>Who built it?<dd style='display:none'>Ada did.</dl>", "Who built it?\n\nAda did."),
    "MkDocs's tabs, notes and code": (
        "<div class=tabbed-set><input type=radio id=a><input type=radio id=b><div class=tabbed-labels>"
        "<label for=a>Linux</label><label for=b>Mac</label></div><div class=tabbed-content><div><p>Use apt.</div>"
        "<div><p>Use brew.</div></div></div><table class=highlighttable><tr><th colspan=2>a.py<tr><td class=linenos>1"
        "<td><pre>x = 1</pre></table><div class=footnote><hr><ol><li>Old. <a class=footnote-backref>x</a></ol></div>",
        "Linux:\n\nUse apt.\n\nMac:\n\nUse brew.\n\na.py\n\n```\nx = 1\n```\n\nOld.",
    ),
    "Bootstrap's tabs": (
        "<ul class='nav nav-tabs'><li><a href='#a'>Rye</a><li><a href='#b'>Oats</a></ul>"
        "<div class=tab-pane id=a>It is old.</div><div class=tab-pane id=b>It is new.</div>",
        "Rye:\n\nIt is old.\n\nOats:\n\nIt is new.",
    ),
    "Asciidoctor's contents, box and notes": (
        "<div id=toc class=toc><div id=toctitle>Table of Contents</div><ul><li><a href='#a'>Mill</a></ul></div>"
        "<div class='admonitionblock note'><table><tr><td class=icon><i title=Note></i><td>Mind it.</table></div>"
        "<div id=footnotes><div class=footnote><a href='#_footnoteref_1'>1</a>. Old.</div></div>",
        "Mind it.\n\nOld.",
    ),
    "what Sphinx makes of lists": (
        "<ol class='loweralpha simple'><li>rye<li>oats</ol><p>On.<table class=hlist><tr><td><ul><li>a</ul><td>"
        "<ul><li>b</ul></table><dl><dt>mill<span class=classifier>old</span><dd>It grinds.</dl>"
        "<div class=citation><span class=label>[<a role=doc-backlink>Ada31</a>]</span><p>Told.</div>",
        "- a. rye\n- b. oats\n\nOn.\n\n- a\n- b\n\nmill : old: It grinds.\n\n[Ada31]\n\nTold.",
    ),
    "MathJax's marks": (
        "<p>\\(x_1\\), \\[\na = b\n\\] and \\(so\\), <code>\\(x_1\\)</code>. <b>Mill</b> : old",
        "x_1, a = b and \\(so\\), \\(x_1\\). Mill : old",
    ),
    "a number above the note": (
        "<p>Old.<sup><a href='#n'>2</a></sup><p id=n><sup>2</sup> It <sup>14</sup>C.",
        "Old.\n\nIt ^14C.",
    ),
    "Word's items": (
        "<p><span style='mso-list:Ignore'>1.1<span>&nbsp;&nbsp; </span></span>Rye<p><span style='mso-list:Ignore'>"
        "·<span>&nbsp; </span></span>Oats<p>On.<p><span style='mso-list:Ignore'>1.2<span>&nbsp; </span></span>Hay",
        "- 1.1 Rye\n- Oats\n\nOn.\n\n- 1.2 Hay",
    ),
    "rustdoc's controls": (
        "<h1>Mill<button>Copy item path</button></h1><a class=src>Source</a><details><summary class=hideme>Expand"
        "</summary><p>Grinds.</details><div id=footer>Version 1.0</div>",
        "Grinds.",
    ),
    "a letter that is set in a table": (
        "<table><tr><td><table><tr><td><h1>News</h1><tr><td><p>Dear Bo,<p>It burns.</table></table>",
        "Dear Bo,\n\nIt burns.",
    ),
    "VitePress's groups of code": (
        "<div class=vp-code-group><div class=tabs><label>npm</label><label>yarn</label></div><div class=blocks>"
        "<div class=language-sh><span class=lang>sh</span><pre>npm i</pre></div><div><pre>yarn</pre></div></div></div>",
        "npm:\n\n```\nnpm i\n```\n\nyarn:\n\n```\nyarn\n```",
    ),
    "Telegram's messages": (
        "<div class='message service'><div class='body details'>2 March 2031</div></div>"
        "<p>Mills<div class='message default clearfix'><div class='pull_left userpic_wrap'>"
        "<div class=initials>AM</div></div><div class=body><div class='pull_right date details' "
        "title='02.03.2031 10:32:05 UTC'>10:32</div><div class=from_name>Ada Moss</div><div class=text>It turns.</div>"
        "</div></div><div class='message default clearfix joined'><div class=body><div class='pull_right date details' "
        "title='02.03.2031 10:33:05 UTC'>10:33</div><div class=text>Good.</div></div></div>"
        "<div class='message default clearfix'><div class=body><div class='pull_right date details' "
        "title='02.03.2031 10:34:05 UTC'>10:34</div><div class=from_name>Bo</div><div class='reply_to details'>In "
        "reply to <a href='#1'>this message</a></div><div class=text>Is it?</div></div></div>",
        "Mills\n\n[02.03.2031 10:32] Ada Moss: It turns.\n\n[02.03.2031 10:33] Ada Moss: Good.\n\n"
        "[02.03.2031 10:34] Bo: Is it?",
    ),
    "a description that is a list": ("<dl><dt>Miller<dd><ul><li>grinds</ul></dl>", "Miller: grinds"),
    "a hidden list": ("<dl><dt hidden>Who?<dd hidden>Ada.</dl><p>On.", "On."),
}


@pytest.mark.parametrize("kind", GENERATED)
def test_what_generators_make_is_read_as_it_looks(kind: str, tmp_path: Path) -> None:
    page, text = GENERATED[kind]
    (tmp_path / "a.html").write_text(f"<html><body>{page}")

    assert "\n\n".join(str(part["text"]) for part in read_documents(tmp_path / "a.html")) == text


FOOT = "<div>© 2026 Kestrel Works Ltd. All rights reserved.</div>"


def test_what_the_pages_of_a_site_repeat_is_read_once(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.html").write_text(
            f"<h1>Mill {number}</h1><p>Mill {number} grinds rye.</p><p>Example:</p>{FOOT}"
        )
    (tmp_path / "note.md").write_text("# Note\n\n© 2026 Kestrel Works Ltd. All rights reserved.\n")

    texts = [str(part["text"]) for part in read_documents(tmp_path)]

    assert [text.count("Kestrel") for text in texts] == [1, 0, 0, 0, 0, 1]
    assert all("grinds rye" in text and "Example:" in text for text in texts[:5])


def test_columns_of_lists_or_paragraphs_are_told_apart(tmp_path: Path) -> None:
    rows = "<tr><td>A1<td><ul><li>cheap<li>small</ul><td><p>Loud.<p>Slow.</tr><tr><td>B2<td>fast<td>dear</tr>"
    page = f"<h1>Pumps</h1><table><tr><th>Pump<th>Pros<th>Cons</tr>{rows}</table>"
    (tmp_path / "a.html").write_text(page)

    (document,) = read_documents(tmp_path / "a.html")

    assert document["text"] == (
        "A1:\n\n  Pros:\n\n  - cheap\n  - small\n\n  Cons:\n\n  Loud.\n\n  Slow.\n\n"
        "B2:\n\n  Pros:\n\n  fast\n\n  Cons:\n\n  dear"
    )
