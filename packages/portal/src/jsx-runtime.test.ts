import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test, vi } from 'vitest';
import { Fragment, jsx, jsxs } from './jsx-runtime.ts';

const link = jsx('a', { children: 'link' }, 'key');

test.each([
  ['a text beside an element', jsxs('p', { children: ['See ', link] }), '<p><span>See </span><a>link</a></p>'],
  ['a number', jsxs('p', { children: [3, ' of ', 4] }), '<p><span>3</span><span> of </span><span>4</span></p>'],
  ['a text in a fragment', jsx(Fragment, { children: 'text' }), '<span>text</span>'],
  ['no text alone', jsx('p', { children: 'text' }), '<p>text</p>'],
  ['no white space', jsxs('p', { children: [link, ' ', link] }), '<p><a>link</a> <a>link</a></p>'],
  ['no element of a list', jsx('p', { children: [link] }), '<p><a>link</a></p>'],
  ['no missing child', jsxs('p', { children: [null, false, ''] }), '<p></p>'],
])('wraps %s', (_, element, html) => {
  const report = vi.spyOn(console, 'error');
  expect(renderToStaticMarkup(element)).toBe(html);
  expect(report).not.toHaveBeenCalled();
});

test('keeps code as it is', () => {
  expect(renderToStaticMarkup(jsx('code', { children: 'id' }))).toBe('<code translate="no">id</code>');
  expect(jsx('b', { children: 'text' }, 'key').key).toBe('key');
});
