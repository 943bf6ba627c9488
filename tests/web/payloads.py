"""Texts that want to become more than text, and how to see that one has."""

PAYLOADS = (
    "<script>alert(1)</script>",
    "<ScRiPt >alert(2)</sCrIpT >",
    "</script><script>alert(3)</script>",
    "<!--<script>alert(4)</script>-->",
    "--><script>alert(5)</script><!--",
    "]]><script>alert(6)</script><![CDATA[",
    "</title><script>alert(7)</script>",
    "</textarea><script>alert(8)</script>",
    "</style><script>alert(9)</script>",
    "</noscript><img src=x onerror=alert(10)>",
    "</template><img src=x onerror=alert(11)>",
    "</select><img src=x onerror=alert(12)>",
    "</option></select><svg/onload=alert(13)>",
    "</svg><img src=x onerror=alert(14)>",
    "</pre></code><img src=x onerror=alert(15)>",
    "</dialog></details><img src=x onerror=alert(16)>",
    "<img src=x onerror=alert(17)>",
    "<img src=x:alert(alt) onerror=eval(src) alt=18>",
    '<img """><script>alert(19)</script>">',
    "<img/src/onerror=alert(20)>",
    "<img src=`x` onerror=alert(21)>",
    "<svg onload=alert(22)>",
    "<svg><script>alert(23)</script></svg>",
    "<svg><animate onbegin=alert(24) attributeName=x dur=1s>",
    "<svg><set attributeName=onmouseover to=alert(25)>",
    "<svg><a xlink:href=javascript:alert(26)><text y=20>x</text></a>",
    "<svg><foreignObject><iframe srcdoc='<script>alert(27)</script>'></foreignObject></svg>",
    "<svg><use href=data:image/svg+xml,<svg/onload=alert(28)>#x>",
    "<math><mtext></mtext><mglyph><style><img src=x onerror=alert(29)>",
    "<math href=javascript:alert(30)>x</math>",
    "<iframe src=javascript:alert(31)>",
    "<iframe srcdoc='<script>parent.alert(32)</script>'>",
    "<object data=data:text/html,<script>alert(33)</script>>",
    "<embed src=javascript:alert(34)>",
    "<base href=//evil.test/>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(36)'>",
    "<link rel=stylesheet href=//evil.test/x.css>",
    "<style>*{background:url(//evil.test/?38)}</style>",
    "<style>@import'//evil.test/39.css';</style>",
    "<body onload=alert(40)>",
    "<details open ontoggle=alert(41)>",
    "<input autofocus onfocus=alert(42)>",
    "<select autofocus onfocus=alert(43)>",
    "<video><source onerror=alert(44)>",
    "<audio src=x onerror=alert(45)>",
    "<marquee onstart=alert(46)>",
    "<a href=javascript:alert(47)>click</a>",
    "<form action=javascript:alert(48)><button>go</button></form>",
    "<button formaction=javascript:alert(49)>go</button>",
    "<table background=javascript:alert(50)>",
    "<div style=animation-name:x onanimationstart=alert(51)>",
    "\"'><img src=x onerror=alert(52)>",
    '" autofocus onfocus=alert(53) x="',
    "' onmouseover='alert(54)",
    "x onpointerenter=alert(55) ",
    "javascript:alert(56)",
    "data:text/html,<script>alert(57)</script>",
    "&lt;img src=x onerror=alert(58)&gt;&#60;script&#62;alert(58)&#60;/script&#62;",
    "${alert(59)}{{7*7}}{% debug %}`${alert(59)}`",
    "'-alert(60)-'\\\";alert(60)//",
    "\u202e<img src=x onerror=alert(61)>\u2066\u0000\u001b[31m",
    "＜script＞alert(62)＜/script＞\ufeff\u00ad",
    "__proto__",
    "../../../../etc/passwd%00.png",
    "name\r\nSet-Cookie: pwned=1\r\n\r\n<script>alert(65)</script>",
    "-rf / --output=x;$(touch /tmp/pwned)`id`|sh",
)
HALF_A_PAIR = "\ud83d<b>"
"""A model can say this; no page can be written with it."""

INJECTED = """(own) => {
    const FORBIDDEN = new Set(["IFRAME", "OBJECT", "EMBED", "BASE", "MATH", "MARQUEE", "STYLE", "FOREIGNOBJECT",
        "ANIMATE", "SET", "AUDIO", "FRAME", "APPLET", "MGLYPH"]);
    const bad = (element) => FORBIDDEN.has(element.tagName.toUpperCase())
        || element.matches("script:not([src], [type='application/json'], [type='text/plain']), meta[http-equiv]")
        || [...element.attributes].some(({ name, value }) => name.startsWith("on")
            || /^(href|src|action|formaction|xlink:href|srcdoc|data|background)$/.test(name)
            && /^\\s*(javascript|vbscript|data:(text|image\\/svg)|\\/\\/|x$|x:|x\\.)/i.test(value));
    const roots = [document, ...[...document.querySelectorAll("template")].map((each) => each.content)];
    return roots.flatMap((root) => [...root.querySelectorAll("*")]).filter(bad)
        .filter((each) => !own || !each.matches(own)).map((each) => each.outerHTML.slice(0, 200));
}"""
"""Finds, in a page, what none of our templates and scripts would ever make, but for those that a selector names."""


def tainted(page: str) -> list[str]:
    """The payloads that stand in a page as they are, though they would be tags there."""
    return [payload for payload in PAYLOADS if "<" in payload and payload in page]
