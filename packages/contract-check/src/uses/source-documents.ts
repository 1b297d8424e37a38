import { parse, type ParserPlugin } from '@babel/parser';
import { nodesIn, type Node } from '../api/signature.ts';
import { errorMessage, failAt, withinStack } from '../input-error.ts';
import type { SourceText } from '../text-file.ts';

/**
 * The GraphQL texts in a TypeScript or JavaScript file, in their order: templates with the tag `gql` or `graphql`, texts that are
 * passed to such a function, and templates that a comment `GraphQL` precedes or begins. Each is moved to its line and column.
 */
export function sourceDocuments({ file, text }: SourceText): SourceText[] {
  const nodes = parsed(file, text);
  // Most files of a pattern have no document.
  if (!/gql|graphql/i.test(text)) return [];
  for (const node of nodes) for (const value of Object.values(node)) nodes.push(...nodesIn(value));
  const tags = tagsIn(nodes);
  const isTag = (node: unknown): boolean =>
    nodesIn(node).some(({ type, name, property }) =>
      type === 'Identifier' ? tags.has(String(name)) : isTag(property),
    );
  const documents = nodes.flatMap((node) => {
    if (node.type === 'TaggedTemplateExpression' && isTag(node['tag'])) return nodesIn(node['quasi']);
    if (node.type === 'CallExpression' && isTag(node['callee'])) return nodesIn(node['arguments']).slice(0, 1);
    return isMarked(node, text) ? [node] : [];
  });
  return [...new Set(documents)]
    .filter(({ type }) => type === 'TemplateLiteral' || type === 'StringLiteral')
    .toSorted((a, b) => startOf(a) - startOf(b))
    .map((node) => ({ file, text: moved(node, text, file) }));
}

function parsed(file: string, text: string): Node[] {
  const isTypeScript = /\.[cm]?tsx?$/.test(file);
  const plugins: ParserPlugin[] = ['decorators-legacy', 'decoratorAutoAccessors', 'explicitResourceManagement'];
  plugins.push(isTypeScript ? ['typescript', { dts: /\.d\.[cm]?ts$/.test(file) }] : 'flow');
  if (!isTypeScript || file.endsWith('x')) plugins.push('jsx');
  try {
    // What is recovered, such as a name that is declared twice, is the matter of a compiler.
    const options = { sourceType: 'unambiguous', errorRecovery: true, plugins } as const;
    return nodesIn(withinStack(file, () => parse(text, options).program));
  } catch (error) {
    const [, problem, line, column] = /^(.*) \((\d+):(\d+)\)$/s.exec(errorMessage(error)) ?? [];
    if (problem === undefined) throw error;
    const kind = isTypeScript ? 'TypeScript' : 'JavaScript';
    failAt(`${file}:${line}:${Number(column) + 1}`, `is not ${kind}: ${problem}`, { cause: error });
  }
}

/** The names of `gql` and `graphql`, also those that imports give them. */
function tagsIn(nodes: readonly Node[]): Set<string> {
  const names = new Set(['gql', 'graphql']);
  for (const node of nodes) {
    if (node.type === 'ImportSpecifier' && names.has(nameOf(node['imported']))) names.add(nameOf(node['local']));
    if (node.type !== 'ImportDeclaration' || nameOf(node['source']) !== 'graphql-tag') continue;
    for (const each of nodesIn(node['specifiers']))
      if (each.type === 'ImportDefaultSpecifier') names.add(nameOf(each['local']));
  }
  return names;
}

function nameOf(node: unknown): string {
  return nodesIn(node)
    .map(({ name, value }) => String(name ?? value))
    .join('');
}

function isMarked(node: Node, text: string): boolean {
  if (node.type !== 'TemplateLiteral') return false;
  const start = startOf(node);
  const [before, after] = [text.slice(Math.max(0, start - 100), start), text.slice(start, start + 100)];
  return /\/\*\s*GraphQL\s*\*\/\s*$/i.test(before) || /^`\s*#\s*graphql\b/i.test(after);
}

function startOf(node: Node): number {
  return Number(node['start']);
}

/** The text of a template or a string, after as many lines and columns as precede it in the file. */
function moved(node: Node, source: string, file: string): string {
  const [expression] = nodesIn(node['expressions']);
  if (expression !== undefined) {
    const { line, column } = placeOf(source, startOf(expression));
    const ways = 'Pass the persisted operations of the client, or leave it out: fragments are found by name';
    failAt(`${file}:${line}:${column}`, `the template has an expression, whose value is not known. ${ways}`);
  }
  const { line, column } = placeOf(source, startOf(node) + 1);
  const text = node.type === 'StringLiteral' ? node['value'] : cookedOf(nodesIn(node['quasis'])[0]?.['value']);
  if (typeof text !== 'string') failAt(`${file}:${line}:${column}`, 'the template has an invalid escape sequence');
  return '\n'.repeat(line - 1) + ' '.repeat(column - 1) + text;
}

function cookedOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'cooked' in value ? value.cooked : null;
}

function placeOf(source: string, offset: number): { readonly line: number; readonly column: number } {
  const lines = source.slice(0, offset).split(/\r\n|[\n\r]/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
