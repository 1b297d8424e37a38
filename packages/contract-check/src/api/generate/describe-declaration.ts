import type TS from '@typescript/typescript6';
import { ts } from './compiler.ts';

/** One declaration. */
export interface Described {
  readonly kind: 'class' | 'enum' | 'function' | 'interface' | 'type' | 'union' | 'value';
  /** The declaration without its members. */
  readonly signature: string;
  /** Of a class: whether a private or protected member makes it nominal, so that no other type is assignable to it. */
  readonly nominal?: boolean;
  /** Path of the member (`data.id`, with a `?` if it is optional) → its signature. */
  readonly members?: Members;
  /** The types of a union. */
  readonly union?: readonly string[];
}

type Members = Record<string, string>;

const printer = ts.createPrinter({ removeComments: true });

/** Describes a symbol. Several declarations are overloads, or parts of an interface. */
export function describeDeclaration(declarations: readonly TS.Declaration[]): Described {
  // Without a prototype, whose `constructor` and `toString` would count as members.
  const members: Members = Object.create(null);
  const parts = declarations.map((declaration) => describeOne(declaration, members));
  const signature = parts.map((part) => part.signature).join('; ');
  const described = { kind: 'value' as const, ...parts[0], signature };
  const paths = Object.keys(members).toSorted();
  if (paths.length === 0) return described;
  return { ...described, members: Object.fromEntries(paths.map((path) => [path, members[path] ?? ''])) };
}

function describeOne(node: TS.Declaration, members: Members): Omit<Described, 'members'> {
  if (ts.isInterfaceDeclaration(node)) {
    addMembers('', node.members, members);
    return { kind: 'interface', signature: `${parameters(node.typeParameters)}${heritage(node.heritageClauses)}` };
  }
  if (ts.isClassDeclaration(node)) {
    addMembers('', node.members, members);
    const modifiers = modifiersOf(node, [ts.SyntaxKind.AbstractKeyword]);
    return {
      kind: 'class',
      signature: `${modifiers}${parameters(node.typeParameters)}${heritage(node.heritageClauses)}`,
      nominal: node.members.some(
        (member) =>
          !ts.isConstructorDeclaration(member) &&
          (isPrivate(member) || modifiersOf(member, [ts.SyntaxKind.ProtectedKeyword]) !== ''),
      ),
    };
  }
  if (ts.isTypeAliasDeclaration(node)) {
    const start = parameters(node.typeParameters);
    if (ts.isUnionTypeNode(node.type))
      return { kind: 'union', signature: start, union: node.type.types.map(print).toSorted() };
    return { kind: 'type', signature: `${start}${typeText('', node.type, members)}` };
  }
  if (ts.isFunctionDeclaration(node)) return { kind: 'function', signature: callable(node) };
  if (ts.isVariableDeclaration(node) && node.initializer !== undefined)
    return { kind: 'value', signature: print(node.initializer) };
  if (ts.isVariableDeclaration(node)) return { kind: 'value', signature: typeText('', node.type, members) };
  return { kind: ts.isEnumDeclaration(node) ? 'enum' : 'value', signature: print(node) };
}

function addMembers(prefix: string, nodes: readonly (TS.TypeElement | TS.ClassElement)[], members: Members): void {
  for (const node of nodes) {
    // A private constructor decides whether callers can create an object.
    if (isPrivate(node) && !ts.isConstructorDeclaration(node)) continue;
    const name = `${prefix}${memberName(node)}`;
    const optional = 'questionToken' in node && node.questionToken !== undefined;
    const signature = memberSignature(name, node, members);
    // Overloads of a method are one member.
    const path = optional ? `${name}?` : name;
    members[path] = members[path] === undefined ? signature : `${members[path]}; ${signature}`;
  }
}

function memberSignature(name: string, node: TS.TypeElement | TS.ClassElement, members: Members): string {
  const modifiers = modifiersOf(node, [
    ts.SyntaxKind.StaticKeyword,
    ts.SyntaxKind.PrivateKeyword,
    ts.SyntaxKind.ProtectedKeyword,
    ts.SyntaxKind.AbstractKeyword,
    ts.SyntaxKind.ReadonlyKeyword,
  ]);
  // A constant: `readonly name = "WebhookUsageError"`.
  if (ts.isPropertyDeclaration(node) && node.initializer !== undefined) return `${modifiers}${print(node.initializer)}`;
  if (ts.isPropertySignature(node) || ts.isPropertyDeclaration(node))
    return `${modifiers}${typeText(`${name}.`, node.type, members)}`;
  if (ts.isMethodSignature(node) || ts.isMethodDeclaration(node) || ts.isConstructorDeclaration(node))
    return `${modifiers}${callable(node)}`;
  return print(node);
}

/** The text of a type. The members of an object type are listed on their own, so that a new one does not change it. */
function typeText(prefix: string, type: TS.TypeNode | undefined, members: Members): string {
  if (type === undefined) return 'any';
  const literals = objectTypesIn(type);
  const [only] = literals;
  // Members of several object types in one type could not be distinguished.
  if (only === undefined || literals.length > 1) return print(type);
  addMembers(prefix, only.members, members);
  return print(type).replace(print(only), '{}');
}

/** The object types outside of functions and of other object types. */
function objectTypesIn(node: TS.Node): TS.TypeLiteralNode[] {
  if (ts.isTypeLiteralNode(node)) return [node];
  if (ts.isFunctionTypeNode(node)) return [];
  const found: TS.TypeLiteralNode[] = [];
  ts.forEachChild(node, (child) => void found.push(...objectTypesIn(child)));
  return found;
}

function callable(node: TS.SignatureDeclarationBase): string {
  const taken = node.parameters.map(print).join(', ');
  return `${parameters(node.typeParameters)}(${taken})${node.type === undefined ? '' : `: ${print(node.type)}`}`;
}

function memberName(node: TS.TypeElement | TS.ClassElement): string {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  if (node.name === undefined) return print(node);
  return ts.isIdentifier(node.name) || ts.isStringLiteral(node.name) ? node.name.text : print(node.name);
}

function isPrivate(node: TS.Node): boolean {
  const named = 'name' in node ? node.name : undefined;
  const hidden =
    typeof named === 'object' && named !== null && 'kind' in named && named.kind === ts.SyntaxKind.PrivateIdentifier;
  return hidden || modifiersOf(node, [ts.SyntaxKind.PrivateKeyword]) !== '';
}

function modifiersOf(node: TS.Node, kinds: readonly TS.SyntaxKind[]): string {
  const all = ts.canHaveModifiers(node) ? (ts.getModifiers(node) ?? []) : [];
  return all
    .filter(({ kind }) => kinds.includes(kind))
    .map((each) => `${print(each)} `)
    .join('');
}

function parameters(list: readonly TS.TypeParameterDeclaration[] = []): string {
  return list.length === 0 ? '' : `<${list.map(print).join(', ')}>`;
}

function heritage(clauses: readonly TS.HeritageClause[] = []): string {
  return clauses.map(print).join(' ');
}

function print(node: TS.Node): string {
  return printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile()).replaceAll(/\s+/g, ' ');
}
