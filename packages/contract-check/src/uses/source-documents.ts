import { parse, type ParserPlugin } from '@babel/parser';
import { nodesIn, type Node } from '../api/signature.ts';
import { errorMessage, failAt, withinStack } from '../input-error.ts';
import type { SourceText } from '../text-file.ts';

/**
 * The GraphQL texts in a TypeScript or JavaScript file, in their order: templates with the tag `gql` or `graphql`, texts that are
 * passed to such a function, and templates that a comment `GraphQL` precedes or begins. Each follows as many lines and columns
 * as precede it in the file, so that errors have its place.
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
    if (node.type === 'CallExpression' && isTag(node['callee']))
      return nodesIn(node['arguments']).slice(0, 1).flatMap(withoutType);
    return isMarked(node, text) ? [node] : [];
  });
  const lineStarts = [0, ...[...text.matchAll(/\r\n|[\n\r]/g)].map(({ index, 0: { length } }) => index + length)];
  const placeOf = (offset: number) => {
    const line = lineStarts.findLastIndex((start) => start <= offset);
    return { line: line + 1, column: offset - (lineStarts[line] ?? 0) + 1 };
  };
  return [...new Set(documents)]
    .filter(({ type }) => ['TemplateLiteral', 'StringLiteral', 'BinaryExpression'].includes(type))
    .toSorted((a, b) => startOf(a) - startOf(b))
    .map((node) => {
      const [expression] = node.type === 'BinaryExpression' ? [node] : nodesIn(node['expressions']);
      const { line, column } = placeOf(expression === undefined ? startOf(node) + 1 : startOf(expression));
      const ways = 'Pass the persisted operations of the client, or leave it out: fragments are found by name';
      const problem = `the text has an expression, whose value is not known. ${ways}`;
      if (expression !== undefined) failAt(`${file}:${line}:${column}`, problem);
      const found = node.type === 'StringLiteral' ? node['value'] : cookedOf(nodesIn(node['quasis'])[0]?.['value']);
      if (typeof found !== 'string') failAt(`${file}:${line}:${column}`, 'the template has an invalid escape sequence');
      return { file, text: '\n'.repeat(line - 1) + ' '.repeat(column - 1) + found };
    });
}

/** What TypeScript says about a type can follow a text: `as const`. */
function withoutType(node: Node): Node[] {
  return node.type === 'TSAsExpression' || node.type === 'TSSatisfiesExpression' ? nodesIn(node['expression']) : [node];
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

function cookedOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'cooked' in value ? value.cooked : null;
}
