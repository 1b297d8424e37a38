import { type ComponentChildren, type HTMLAttributes, isValidElement } from 'preact';
import { expect, test } from 'vitest';
import { Fragment, jsx, jsxs } from './jsx-runtime.ts';

const link = jsx('a', { children: 'link' }, 'key');

/** What Preact renders: a text that it would make a text node is in quotation marks. */
function htmlOf(child: ComponentChildren): string {
  if (Array.isArray(child)) return child.map(htmlOf).join('');
  if (typeof child === 'string' || typeof child === 'number') return child === '' ? '' : `"${child}"`;
  if (!isValidElement(child)) return '';
  const { children, textContent = '', translate }: HTMLAttributes & { textContent?: string } = child.props;
  const content = `${textContent}${htmlOf(children)}`;
  if (child.type === Fragment) return content;
  const tag = String(child.type);
  return `<${tag}${translate === false ? ' translate="no"' : ''}>${content}</${tag}>`;
}

test.each([
  ['a text beside an element', jsxs('p', { children: ['See ', link] }), '<p><span>See </span><a>link</a></p>'],
  ['a number', jsxs('p', { children: [3, ' of ', 4] }), '<p><span>3</span><span> of </span><span>4</span></p>'],
  ['a text in a fragment', jsx(Fragment, { children: 'text' }), '<span>text</span>'],
  ['no text alone', jsx('p', { children: 'text' }), '<p>text</p>'],
  ['no title of SVG', jsx('title', { children: 'text' }), '<title>"text"</title>'],
  ['no white space', jsxs('p', { children: [link, ' ', link] }), '<p><a>link</a>" "<a>link</a></p>'],
  ['no element of a list', jsx('p', { children: [link] }), '<p><a>link</a></p>'],
  ['no missing child', jsxs('p', { children: [null, false, ''] }), '<p></p>'],
])('wraps %s', (_, element, html) => {
  expect(htmlOf(element)).toBe(html);
});

test('keeps code as it is', () => {
  expect(htmlOf(jsx('code', { children: 'id' }))).toBe('<code translate="no">id</code>');
  expect(jsx('b', { children: 'text' }, 'key').key).toBe('key');
});
