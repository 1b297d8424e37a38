import { createElement, type ElementType, Fragment, type Key, type ReactNode } from 'react';
import * as react from 'react/jsx-runtime';

export type { JSX } from 'react/jsx-runtime';
export { Fragment };

/** Names and bytes: a translation of them is wrong. */
const untranslated: readonly ElementType[] = ['code', 'pre'];

/** A text beside others, in an element of its own. Nothing translates white space. */
function wrapped(child: ReactNode): ReactNode {
  const isText = typeof child === 'number' || (typeof child === 'string' && child.trim() !== '');
  return isText ? createElement('span', null, child) : child;
}

/**
 * Creates the elements of the pages: the compiler calls it for JSX. A browser that translates a page replaces its text nodes, and
 * React cannot change or remove a text node that is replaced, unless it is the only child of its element.
 */
export function jsx(type: ElementType, { children, ...rest }: { readonly children?: ReactNode }, key?: Key) {
  const texts = Array.isArray(children) ? children.map(wrapped) : type === Fragment ? wrapped(children) : children;
  return react.jsx(type, { ...(untranslated.includes(type) && { translate: 'no' }), ...rest, children: texts }, key);
}

export { jsx as jsxs };
