import type { Choose } from '@deedwire/testing';

const repeat = (count: number, text: string | ((index: number) => string)) =>
  Array.from({ length: count }, (_, index) => (typeof text === 'string' ? text : text(index))).join(' ');
const lines = (count: number) => '\n'.repeat(count);
const chain = (count: number, type: string, inner: (next: string) => string, last: string) =>
  `${repeat(count, (index) => `fragment F${index} on ${type}{${inner(`...F${index + 1}`)}}`)} fragment F${count} on ${type}{${last}}`;

/**
 * Documents for the customer interface, below the limits of tokens, depth, aliases and directives. They are expensive to
 * parse or to validate, or were in some version of graphql or of our code.
 */
export const hostileDocuments: Readonly<Record<string, string>> = {
  'a field 1,990 times': `{customer{${repeat(1990, 'id')}}}`,
  'an object 490 times': `{${repeat(490, 'customer{id}')}}`,
  'objects in objects 280 times': `{${repeat(280, 'webhookEventTypes{versions{version}}')}}`,
  'a field with an argument 220 times': `{${repeat(220, 'webhookSubscription(id:"1"){id}')}}`,
  'conflicting arguments': `{${repeat(220, (index) => `webhookSubscription(id:"${index}"){id}`)}}`,
  'an object 28 times with a field 60 times': `{${repeat(28, `customer{${repeat(60, 'id')}}`)}}`,
  '150 fragments next to each other': `{${repeat(150, (index) => `...F${index}`)}} ${repeat(150, (index) => `fragment F${index} on Query{customer{id}}`)}`,
  'fragments in a cycle': `{...F0} ${repeat(240, (index) => `fragment F${index} on Query{...F${(index + 1) % 240}}`)}`,
  'fragments that spread all others': `{...F0} ${lines(60_000)} ${repeat(28, (index) => `fragment F${index} on Query{${repeat(28, (other) => `...F${other}`)}}`)}`,
  'a chain of fragments that doubles': `{customer{...F0}} ${chain(120, 'Customer', (next) => `id name ${next} ${next}`, 'id')}`,
  'a chain of fragments in introspection': `{__schema{types{...F0}}} ${chain(110, '__Type', (next) => `name ofType{${next}} ${next}`, 'name')}`,
  '90 operations with a chain of fragments': `${repeat(90, (index) => `query Q${index}{...F0}`)} ${chain(110, 'Query', (next) => `${next} __typename`, '__typename')}`,
  '60 operations with a large fragment': `${repeat(60, (index) => `query Q${index}{...F}`)} fragment F on Query{customer{${repeat(750, 'id name')}}}`,
  '50 operations with a variable in a fragment': `${repeat(50, (index) => `query Q${index}($a:ID!){...F}`)} fragment F on Query{${repeat(120, 'webhookSubscription(id:$a){id}')}}`,
  '330 operations': repeat(330, (index) => `query Q${index}{__typename}`),
  'inline fragments next to each other': `{${repeat(390, '...{__typename}')}}`,
  'inline fragments in each other': `{${'__typename ...{'.repeat(390)}__typename${'}'.repeat(390)}}`,
  'levels of introspection': `{__schema{types{${'ofType{name '.repeat(480)}name${'}'.repeat(480)}}}}`,
  'introspection 120 times': `{${repeat(120, '__schema{types{fields{type{name}}}}')}}`,
  'unused variables': `query(${repeat(390, (index) => `$v${index}:Int`)}){__typename}`,
  'a variable 390 times after 60,000 lines': `query(${lines(60_000)}${repeat(390, '$v:Int')}){__typename}`,
  'unknown fields after 60,000 lines': `{${lines(60_000)}${repeat(1990, 'x')}}`,
  'unknown fields with long names': `{customer{${repeat(19, (index) => `${'a'.repeat(5000)}${index}`)}}}`,
  'an argument 600 times after 60,000 lines': `{${lines(60_000)} webhookSubscription(${repeat(600, 'id:1')}){id}}`,
  'a fragment 280 times after 60,000 lines': `{...F} ${lines(60_000)} ${repeat(280, 'fragment F on Query{__typename}')}`,
  'a directive 20 times after 60,000 lines': `{${lines(60_000)}__typename ${repeat(20, '@skip(if:true)')}}`,
  'unknown input fields': `mutation{placeOrder(input:{${repeat(600, (index) => `a${index}:1`)}}){order{id}}}`,
  'unknown input fields after 90,000 lines': `mutation{placeOrder(input:{${lines(90_000)}${repeat(600, (index) => `a${index}:1`)}}){order{id}}}`,
  'an input field 600 times after 60,000 lines': `mutation{placeOrder(input:{${lines(60_000)}${repeat(600, 'item:"1"')}}){order{id}}}`,
  'objects in objects': `mutation{placeOrder(input:${'{a:'.repeat(480)}1${'}'.repeat(480)}){order{id}}}`,
  'lists in lists': `mutation{placeOrder(input:${'['.repeat(980)}1${']'.repeat(980)}){order{id}}}`,
  'a list of 1,900 wrong items': `mutation{createWebhookSubscription(input:{eventTypes:[${repeat(1900, '1')}]}){userErrors{code}}}`,
  'a number of 95,000 digits': `{webhookSubscriptions(first:${'9'.repeat(95_000)}){nodes{id}}}`,
  'a string of 95,000 characters': `{webhookSubscription(id:"${'a'.repeat(95_000)}"){id}}`,
  'escapes of control characters': `{${repeat(19, `webhookDeliveries(status:"${String.raw`\u0001`.repeat(850)}"){nodes{id}}`)}}`,
  'block strings with many lines': `{${repeat(200, `webhookSubscription(id:"""${'\n x'.repeat(140)}"""){id}`)}}`,
  'long strings to compare': `{${repeat(200, `webhookSubscription(id:"${'x'.repeat(430)}"){id}`)}}`,
  'comments only': `{${'#\n'.repeat(45_000)}__typename}`,
  'comments, then a lexical error': `{${'#\n'.repeat(49_000)}"`,
  'lines, then a syntax error': `{${lines(95_000)}!}`,
  'commas only': `{${','.repeat(95_000)}__typename}`,
  'a name of 95,000 characters': `{${'x'.repeat(95_000)}}`,
};

/** A body has at most 100,000 bytes. */
const maxCharacters = 98_000;

const token = /\n+|[\w$]+|"""[^"]*"""|"[^"]*"|\.\.\.|[^\w\s]|\s+/g;

/** Changes a document at random: repeats, moves or removes a part of it, or takes a part from another document. */
export function mutateDocument(document: string, others: readonly string[], choose: Choose): string {
  const parts = document.match(token) ?? [];
  const other = others[choose(others.length)]?.match(token) ?? [];
  const text = (from: number, to?: number) => parts.slice(from, to).join('');
  const [at, to] = choosePart(parts, choose);
  const [from, until] = choosePart(other, choose);
  const [place] = choosePart(parts, choose);
  const part = ` ${text(at, to)} `;
  const changes: (() => string)[] = [
    () => text(0, at) + part.repeat(1 + choose(choose(3) === 0 ? 200 : 5)) + text(at),
    () => text(0, at) + text(to),
    () => text(0, place) + part + text(place),
    () => `${text(0, at)} ${other.slice(from, until).join('')} ${text(choose(2) === 0 ? at : to)}`,
    () => text(0, at) + '\n'.repeat(choose(40_000)) + text(at),
    () => `${document} fragment F${choose(10)} on ${/ on (\w+)/.exec(document)?.[1] ?? 'Query'}{${part}}`,
    () => text(0, at) + (/^\d+$/.test(parts[at] ?? '') ? choose(30) : 'x'.repeat(1 + choose(3000))) + text(at + 1),
  ];
  const change = changes[choose(changes.length)];
  return (change?.() ?? document).slice(0, maxCharacters);
}

/** Returns the start and the end of some tokens, in which each bracket has its partner if the document is well-formed. */
function choosePart(parts: readonly string[], choose: Choose): [at: number, to: number] {
  const at = choose(parts.length + 1);
  const least = at + 1 + choose(choose(3) === 0 ? 60 : 8);
  let to = at;
  for (let depth = 0; to < parts.length && (to < least || depth > 0); to += 1) {
    const part = parts[to] ?? '';
    if ('{[('.includes(part)) depth += 1;
    if ('}])'.includes(part) && (depth -= 1) < 0) break;
  }
  return [at, to];
}
