// What is wrong with a page on a narrow screen.
const textOf = (element) => (element.ariaLabel || element.innerText || element.name || element.tagName).slice(0, 40);
const controls = [...document.querySelectorAll('a, button, summary, input, select, textarea')];
const shown = controls.filter((each) => each.checkVisibility());
const isInSentence = (each) => each.tagName === 'A' && each.closest('p, small');
const leftOf = (selector) => document.querySelector(selector).getBoundingClientRect().left;
const fontSizeOf = (each) => parseFloat(getComputedStyle(each).fontSize);
const headingOf = (cell) => getComputedStyle(cell, '::before').content;
const result = () => ({
  low: shown.filter((each) => !isInSentence(each) && each.getBoundingClientRect().height < 24).map(textOf),
  small: shown.filter((each) => each.matches('input, select, textarea') && fontSizeOf(each) < 16).map(textOf),
  withoutHeading: [...document.querySelectorAll('td')]
    .filter((cell) => headingOf(cell) !== JSON.stringify(cell.dataset.head))
    .map(textOf),
  isHeaderHigh: document.querySelector('header').getBoundingClientRect().height > 150,
  indent: leftOf('header .link') - leftOf('header b'),
});
result();
