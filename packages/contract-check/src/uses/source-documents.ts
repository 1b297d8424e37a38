import { parse, type ParserPlugin } from '@babel/parser';
import { nodesIn, type Node } from '../api/signature.ts';
import { errorMessage, failAt, withinStack } from '../input-error.ts';
import type { SourceText } from '../text-file.ts';
import { tagFinder, unwrapped, type IsTag } from './graphql-tags.ts';

/**
 * The GraphQL texts in a TypeScript or JavaScript file, in their order: templates with the tag `gql` or `graphql`, texts that are
 * passed to such a function, and texts that a comment `GraphQL` precedes or begins. Each follows as many lines and columns
 * as precede it in the file, so that errors have its place.
 *
 * @throws {InputError} also if a text is known only when the program runs.
 */
export function sourceDocuments({ file, text }: SourceText): SourceText[] {
  const nodes = parsed(file, text);
  // Most files of a pattern have no document.
  if (!/gql|graphql/i.test(text)) return [];
  for (const node of nodes)
    for (const value of Object.values(node)) for (const child of nodesIn(value)) nodes.push(child);
  const isTag = tagFinder(nodes);
  const documents = nodes.flatMap((node) => {
    const taken = textsTaken(node, isTag);
    return taken.length === 0 && isMarked(node, text) ? [node] : taken;
  });
  const lineStarts = [0, ...[...text.matchAll(/\r\n|[\n\r]/g)].map(({ index, 0: { length } }) => index + length)];
  const placeOf = (offset: number) => {
    const line = lineStarts.findLastIndex((start) => start <= offset);
    return { line: line + 1, column: offset - (lineStarts[line] ?? 0) + 1 };
  };
  return [...new Set(documents)]
    .toSorted((a, b) => startOf(a) - startOf(b))
    .map((node) => {
      const isText = node.type === 'TemplateLiteral' || node.type === 'StringLiteral';
      const [expression] = isText ? nodesIn(node['expressions']) : [node];
      const { line, column } = placeOf(expression === undefined ? startOf(node) + 1 : startOf(expression));
      const way =
        'Write it here as one template without expressions (fragments are found by name), or pass the persisted operations of the client';
      if (expression !== undefined)
        failAt(`${file}:${line}:${column}`, `the text is known only when the program runs. ${way}`);
      const found = node.type === 'StringLiteral' ? node['value'] : cookedOf(nodesIn(node['quasis'])[0]?.['value']);
      if (typeof found !== 'string') failAt(`${file}:${line}:${column}`, 'the template has an invalid escape sequence');
      return { file, text: '\n'.repeat(line - 1) + ' '.repeat(column - 1) + found };
    });
}

/** What a tag or a call of a tag takes. Not options, and not a document, which is read by itself. */
function textsTaken(node: Node, isTag: IsTag): Node[] {
  if (node.type === 'TaggedTemplateExpression') {
    const [tag] = nodesIn(node['tag']).map(unwrapped);
    return isTag(tag) || isTag(tag?.['object']) ? nodesIn(node['quasi']) : [];
  }
  if (!/^(?:Optional)?CallExpression$/.test(node.type) || !isTag(node['callee'])) return [];
  return nodesIn(node['arguments'])
    .slice(0, 1)
    .map(unwrapped)
    .filter(({ type }) => type !== 'ObjectExpression' && !type.endsWith('FunctionExpression'))
    .filter((argument) => textsTaken(argument, isTag).length === 0);
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

function isMarked(node: Node, text: string): boolean {
  const start = startOf(node);
  const isTagged = node.type === 'TaggedTemplateExpression';
  if (!isTagged && !/^(?:TemplateLiteral|StringLiteral|BinaryExpression)$/.test(node.type)) return false;
  if (!isTagged && !/["'`]/.test(text.charAt(start))) return false;
  const [before, after] = [text.slice(Math.max(0, start - 100), start), text.slice(start, start + 100)];
  // A comment on the line before a string is that of a list or of a key.
  const comment = text[start] === '`' ? /\/\*\s*GraphQL\s*\*\/[\s(]*$/i : /\/\*\s*GraphQL\s*\*\/[ \t(]*$/i;
  return comment.test(before) || /^`\s*#\s*graphql\b/i.test(after);
}

function startOf(node: Node): number {
  return Number(node['start']);
}

function cookedOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'cooked' in value ? value.cooked : null;
}
