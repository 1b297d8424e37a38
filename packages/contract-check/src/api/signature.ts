import { parse } from '@babel/parser';

/** A node of the syntax tree, with the members that Babel documents. */
export interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** What the names of type parameters and imports, and after `=` those of parameters, stand for. */
export type Names = ReadonlyMap<string, string>;

/**
 * Parses the text of a declaration or a member in a report. `modifiers`: `protected abstract `. `parts`: the overloads of a function,
 * method or constructor, or one node: a type, or what follows the name of a declaration. `typeParameters`: those of a declaration.
 * Those of a function belong to its part.
 */
export function parseSignature(text: string) {
  const [modifiers = ''] = /^(?:(?:static|private|protected|abstract) )*(?:readonly )?/.exec(text) ?? [];
  const rest = text.slice(modifiers.length).trim();
  const ends = rest.startsWith('<') ? [...rest.matchAll(/>/g)].map(({ index }) => index + 1) : [0];
  const aliases = ends.map((end) => `type _${rest.slice(0, end)} = ${rest.slice(end)}`);
  const sources = [...aliases, `interface _ { ${rest} }`, `declare class _ ${rest} {}`, `interface _ ${rest} {}`];
  for (const source of sources) {
    const [only, ...others] = parsed(source);
    if (only === undefined || others.length > 0) continue;
    const overloads = nodesIn(only['body']).flatMap(({ body }) => nodesIn(body));
    const [parts = [only]] = [nodesIn(only['typeAnnotation']), overloads].filter((nodes) => nodes.length > 0);
    return {
      modifiers,
      parts,
      typeParameters: nodesIn(only['typeParameters']).flatMap(({ params }) => nodesIn(params)),
    };
  }
  const statements = parsed(rest);
  return { modifiers, parts: statements.length > 0 ? statements : [{ type: rest }], typeParameters: [] };
}

/** The statements of a module. Empty if it is invalid. */
function parsed(source: string): Node[] {
  try {
    return nodesIn(parse(source, { sourceType: 'module', plugins: [['typescript', { dts: true }]] }).program.body);
  } catch {
    return [];
  }
}

/** The nodes in a member of a node, which can be one, a list or none. */
export function nodesIn(value: unknown): Node[] {
  return [value].flat().filter(isNode);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** Whether a part is a function, method, constructor or function type. */
export function isCallable({ type }: Node): boolean {
  return /^TS(?:(?:Call|Construct)SignatureDeclaration|FunctionType|MethodSignature)$/.test(type);
}

/**
 * The text of a node without what a compiler may write in another way: the order of unions, intersections and members, quotes,
 * parentheses, `Array<T>`, imports in a type, and the names of type parameters. Without names of parameters as well.
 */
export function textOf(node: Node, names: Names): string {
  const inner = namesInside(node, names);
  const own = (member: string): string => textsOf(node[member], inner).join(', ');
  switch (node.type) {
    case 'TSParenthesizedType':
    case 'TSTypeAnnotation':
      return own('typeAnnotation');
    case 'Identifier':
      return String(node['name']);
    case 'TSQualifiedName':
      return `${own('left')}.${own('right')}`;
    case 'TSArrayType':
      return `Array<${own('elementType')}>`;
    case 'TSTypeOperator':
      return `${String(node['operator'])} ${own('typeAnnotation')}`;
    case 'TSTypeReference':
    case 'TSImportType': {
      const [from] = nodesIn(node['argument']).map(({ value }) => String(value));
      // What `references` in a report call `URL of node:url`. A relative file is one of the package.
      const name =
        from?.startsWith('.') === false ? `${own('qualifier')} of ${from}` : own('typeName') || own('qualifier');
      const given = nodesIn(node['typeParameters']).flatMap(({ params }) => textsOf(params, names));
      const list = given.length === 0 ? '' : `<${given.join(', ')}>`;
      return `${names.get(name) ?? name}${list}`.replace(/^ReadonlyArray</, 'readonly Array<');
    }
    case 'TSBooleanKeyword':
    case 'TSUnionType':
    case 'TSIntersectionType': {
      const kind = node.type === 'TSIntersectionType' ? '&' : '|';
      const texts = [...new Set(joined(node, kind, names))].toSorted();
      return texts.length === 1 ? texts.join() : `(${texts.join(` ${kind} `)})`;
    }
    case 'TSTypeLiteral': {
      const members = nodesIn(node['members']).map((each) => ({ key: textsOf(each['key'], inner).join(''), each }));
      // The sort is stable, because the order of overloads counts.
      const sorted = members.toSorted((a, b) => (a.key === b.key ? 0 : a.key < b.key ? -1 : 1));
      return `{ ${sorted.map(({ each }) => textOf(each, inner)).join('; ')} }`;
    }
    case 'TSTypeQuery':
    case 'TSTypePredicate': {
      const [root = '', ...steps] = (own('exprName') || own('parameterName')).split('.');
      const rest = [String(node['asserts']), own('typeAnnotation'), own('typeParameters')];
      return `${node.type}(${[names.get(`=${root}`) ?? root, ...steps, ...rest].join(' ')})`;
    }
    case 'TSTypeParameter': {
      const name = String(node['name']);
      return `${inner.get(name) ?? name} ${aroundParameters({ ...node, name: null }, names)}`;
    }
    default: {
      const around = aroundParameters(node, names);
      const parameters = parametersOf(node, names).map(({ type, required }) => `${required ? '' : '?'}${type}`);
      // A method without parameters is a property with a function.
      const start = parameters.length > 0 ? around : around.replace(/^TSCallSignatureDeclaration/, 'TSFunctionType');
      return `${start}(${parameters.join(', ')})`;
    }
  }
}

export function textsOf(value: unknown, names: Names): string[] {
  return nodesIn(value).map((each) => textOf(each, names));
}

/** The texts of the types in a union or an intersection, including of those inside. */
function joined(node: Node, kind: '&' | '|', names: Names): string[] {
  if (node.type === 'TSParenthesizedType')
    return nodesIn(node['typeAnnotation']).flatMap((each) => joined(each, kind, names));
  if (node.type === 'TSBooleanKeyword' && kind === '|')
    return [false, true].map((value) =>
      textOf({ type: 'TSLiteralType', literal: { type: 'BooleanLiteral', value } }, names),
    );
  if (node.type !== (kind === '|' ? 'TSUnionType' : 'TSIntersectionType')) return [textOf(node, names)];
  return nodesIn(node['types']).flatMap((each) => joined(each, kind, names));
}

export function parametersOf(node: Node, names: Names) {
  const inner = namesInside(node, names);
  return nodesIn(node['parameters']).map((parameter) => {
    const isRest = parameter.type === 'RestElement';
    const types = nodesIn(parameter['typeAnnotation']);
    // Names in a pattern can be those in a `typeof`.
    const pattern = parameter.type.endsWith('Pattern') && hasQuery(node) ? nameOf(parameter) : '';
    const start = `${isRest ? '...' : ''}${parameter['name'] === 'this' ? 'this' : pattern}`;
    return {
      /** Not the name of a parameter, but the object on which the function is called, is a part of the type. */
      type: `${start}: ${textsOf(types, inner).join('')}`,
      required: !isRest && parameter['optional'] !== true,
      /** Its type, if that states members. */
      object: types
        .flatMap(({ typeAnnotation }) => nodesIn(typeAnnotation))
        .find(({ type }) => type === 'TSTypeLiteral'),
    };
  });
}

function hasQuery(node: Node): boolean {
  return node.type === 'TSTypeQuery' || Object.values(node).flatMap(nodesIn).some(hasQuery);
}

/** The names of all parameters in a node. */
export function parameterNames(node: Node): string[] {
  return [...nodesIn(node['parameters']).map(nameOf), ...Object.values(node).flatMap(nodesIn).flatMap(parameterNames)];
}

function nameOf(parameter: Node): string {
  return aroundParameters({ ...parameter, optional: null, typeAnnotation: null }, new Map());
}

/** A node without its parameters and its place. */
export function aroundParameters(node: Node, names: Names): string {
  const inner = namesInside(node, names);
  const members = Object.entries(node).flatMap(([name, value]) => {
    if (/^(?:type|start|end|loc|extra|parameters)$/.test(name) || value === null || value === undefined) return [];
    return `${name}: ${nodesIn(value).length === 0 ? JSON.stringify(value) : textsOf(value, inner).join(', ')}`;
  });
  return `${node.type} ${members.join(', ')}`;
}

/** The names inside a node, which may declare parameters and type parameters. */
function namesInside(node: Node, names: Names): Names {
  const declared = nodesIn(node['typeParameters']).filter(({ type }) => type === 'TSTypeParameterDeclaration');
  const own = [...declared.flatMap(({ params }) => nodesIn(params)), ...nodesIn(node['typeParameter'])];
  const parameters = nodesIn(node['parameters']).map((each) => [each, ...nodesIn(each['argument'])].at(-1) ?? each);
  return withNames(names, [
    ...own.map(({ name }) => String(name)),
    ...parameters.map(({ name }) => `=${String(name)}`),
  ]);
}

/** Adds names by their positions, and the depth at which they are declared. */
export function withNames(names: Names, added: readonly string[]): Names {
  const depth = Number(names.get('') ?? 0);
  const positions = added.map((name, position) => [name, `$${depth}.${position}`] as const);
  return added.length === 0 ? names : new Map([...names, ...positions, ['', String(depth + 1)]]);
}

/** The type names in a node. Those in what callers pass to a function, or choose for a type parameter, are flipped. */
export function namesIn(node: Node, isFlipped = false): { readonly text: string; readonly isFlipped: boolean }[] {
  const own = node.type === 'Identifier' ? [{ text: String(node['name']), isFlipped }] : [];
  const inside = Object.entries(node).flatMap(([name, value]) => {
    if (name === 'parameters')
      return nodesIn(value).flatMap(({ typeAnnotation }) => namesOf(typeAnnotation, !isFlipped));
    const isPassed = node.type === 'TSTypeParameter' && name === 'constraint';
    // What another package calls by this name.
    if (name === 'qualifier' && nodesIn(node['argument']).some((of) => !String(of['value']).startsWith('.'))) return [];
    return name === 'key' && node['computed'] !== true ? [] : namesOf(value, isFlipped !== isPassed);
  });
  return [...own, ...inside];
}

function namesOf(value: unknown, isFlipped: boolean): ReturnType<typeof namesIn> {
  return nodesIn(value).flatMap((each) => namesIn(each, isFlipped));
}
