import { type ComponentChildren, type ComponentType, createElement, Fragment, type Key, type VNode } from 'preact';

export type { JSX } from 'preact/jsx-runtime';
export { Fragment };

/** Names and bytes: a translation of them is wrong. */
const untranslated: readonly unknown[] = ['code', 'pre'];

/** Preact sets no properties of elements of SVG. */
const ofSvg: readonly unknown[] = ['title'];

const isText = (child: ComponentChildren): child is string | number =>
  typeof child === 'number' || (typeof child === 'string' && child.trim() !== '');

/** A text beside others, in its own element. Nothing translates white space. */
const wrapped = (child: ComponentChildren): ComponentChildren =>
  isText(child) ? createElement('span', { textContent: child }) : child;

interface Props {
  readonly children?: ComponentChildren;
}

// The compiler calls this for JSX. A browser that translates a page replaces its text nodes, which Preact would still change and
// remove. Here each text is the property of an element instead: setting it replaces what the browser has put there.
export function jsx(type: string | ComponentType<Props>, { children, ...rest }: Props, key?: Key): VNode {
  const texts = Array.isArray(children) ? children.map(wrapped) : type === Fragment ? wrapped(children) : children;
  if (typeof type !== 'string') return createElement(type, { ...rest, key }, texts);
  const isProperty = isText(texts) && !ofSvg.includes(type);
  const text = isProperty ? { textContent: texts } : {};
  const given = { ...(untranslated.includes(type) && { translate: false }), ...rest, ...text, key };
  return createElement(type, given, isProperty ? undefined : texts);
}

export const jsxs = jsx;
