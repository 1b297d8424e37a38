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

interface Props {
  readonly children?: ReactNode;
}

const creator =
  (create: typeof react.jsx) =>
  (type: ElementType, { children, ...rest }: Props, key?: Key) => {
    const texts = Array.isArray(children) ? children.map(wrapped) : type === Fragment ? wrapped(children) : children;
    return create(type, { ...(untranslated.includes(type) && { translate: 'no' }), ...rest, children: texts }, key);
  };

// The compiler calls these for JSX. A browser that translates a page replaces its text nodes, and React then neither changes nor
// removes them; it replaces the text of an element whose only child is a text, so each text becomes such a child.
export const jsx = creator(react.jsx);
export const jsxs = creator(react.jsxs);
