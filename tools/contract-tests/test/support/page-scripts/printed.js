// How a page is printed.
const { color, backgroundColor } = getComputedStyle(document.body);
const all = (selector) => [...document.querySelectorAll(selector)];
const controls = all('button, .button, nav').filter((each) => each.checkVisibility());
const cut = all('pre').filter((each) => each.scrollHeight > each.clientHeight + 1);
const result = () => ({ color, backgroundColor, controls: controls.map((each) => each.innerText), cut: cut.length });
result();
