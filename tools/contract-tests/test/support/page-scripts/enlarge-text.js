const nameOf = (each) => `${each.tagName} ${each.ariaLabel || each.className || each.innerText}`;
const isCut = (each) => each.matches('input, select, button') && each.scrollHeight > each.clientHeight + 1;
const isOutside = (each) =>
  each.getBoundingClientRect().right > innerWidth && getComputedStyle(each).clipPath === 'none';

// Makes the text of a page larger, and nothing else. Returns what is cut off, or outside of the window.
globalThis.enlargeText = (factor) => {
  const sizes = [...document.querySelectorAll('body, body *')].map((each) => [
    each,
    parseFloat(getComputedStyle(each).fontSize),
  ]);
  for (const [each, size] of sizes) each.style.fontSize = `${size * factor}px`;
  const all = sizes.map(([each]) => each);
  return { cut: all.filter(isCut).map(nameOf), outside: all.filter(isOutside).map(nameOf) };
};
