import {
  type DefinitionNode,
  type FieldDefinitionNode,
  GraphQLError,
  isTypeDefinitionNode,
  isTypeExtensionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  type ObjectTypeExtensionNode,
  parse,
  Source,
} from 'graphql';

/** A file of SDL that a person wrote. */
export interface Written {
  /** Relative to the workspace. For messages. */
  readonly path: string;
  readonly text: string;
}

/** An edition of the common half. */
export interface EditionSdl extends Written {
  /** The types and root fields of earlier editions that this one does not have, for example `Query.webhookReplays`. */
  readonly removes: readonly string[];
}

const roots = ['Query', 'Mutation'];

/** By name, in the order of the SDL, as text. */
type Parts = Map<string, string>;

interface Half {
  /** Root → its description and name, as text. */
  readonly heads: Parts;
  /** Root → its fields. */
  readonly fields: ReadonlyMap<string, Parts>;
  readonly types: Parts;
}

/**
 * The SDL of a version: a first line, the comments that `own` begins with, `Query`, `Mutation`, the interface's own types, and the common
 * types. Each definition is copied character for character, without comments between them. Own fields precede common ones.
 *
 * @param own defines `Query` and `Mutation`, with the fields that only this interface has, and its types
 * @param editions what every interface has, oldest first: it extends `Query` and `Mutation`. A later one replaces types and root fields of
 * the same name, and adds others at the end
 * @throws {Error} that names the file
 */
export function composeSdl(firstLine: string, own: Written, editions: readonly EditionSdl[]): string {
  return compose(firstLine, own, commonHalf(editions));
}

/**
 * As `composeSdl`, from a SDL that `composeSdl` has written of editions alone.
 *
 * @throws {Error} that names the file
 */
export function addToCommonSdl(firstLine: string, own: Written, common: Written): string {
  return compose(firstLine, own, readHalf(common, Kind.OBJECT_TYPE_DEFINITION));
}

function compose(firstLine: string, own: Written, common: Half): string {
  const ownHalf = readHalf(own, Kind.OBJECT_TYPE_DEFINITION);
  const composedRoots = roots.map((root) => {
    const head = ownHalf.heads.get(root);
    if (head === undefined) throw new Error(`${own.path}: define type ${root}, even if the interface adds no field.`);
    const fields = joined(own, partsOf(ownHalf, root), partsOf(common, root), `${root}.`);
    return `${head} {\n${fields.map((field) => `  ${field}\n`).join('')}}`;
  });
  const [comments = ''] = /^(?:#.*\n)*/.exec(own.text) ?? [];
  const head = `${firstLine}\n${comments}`.trimEnd();
  return `${[head, ...composedRoots, ...joined(own, ownHalf.types, common.types)].join('\n\n')}\n`;
}

/** The coordinates of the fields that only one interface has. */
export function ownFields(own: Written): Set<string> {
  return new Set(
    definitionsIn(own).flatMap((definition) =>
      definition.kind === Kind.OBJECT_TYPE_DEFINITION || definition.kind === Kind.INTERFACE_TYPE_DEFINITION
        ? (definition.fields ?? []).map((field) => `${definition.name.value}.${field.name.value}`)
        : [],
    ),
  );
}

function commonHalf(editions: readonly EditionSdl[]): Half {
  const common = emptyHalf();
  for (const edition of editions) {
    const half = readHalf(edition, Kind.OBJECT_TYPE_EXTENSION);
    for (const coordinate of edition.removes) {
      const [type = '', field] = coordinate.split('.');
      const isRemoved = field === undefined ? common.types.delete(type) : partsOf(common, type).delete(field);
      if (!isRemoved)
        throw new Error(
          `${edition.path}: it removes ${coordinate}, which is no type or root field of earlier editions.`,
        );
    }
    for (const [name, text] of half.types) common.types.set(name, text);
    for (const root of roots) for (const [name, text] of partsOf(half, root)) partsOf(common, root).set(name, text);
  }
  return common;
}

function emptyHalf(): Half {
  return { heads: new Map(), fields: new Map(roots.map((root) => [root, new Map()])), types: new Map() };
}

function partsOf({ fields }: Half, root: string): Parts {
  return fields.get(root) ?? new Map();
}

/** Own parts, then common ones. */
function joined({ path }: Written, own: Parts, common: Parts, before = ''): string[] {
  const both = [...own.keys()].find((name) => common.has(name));
  if (both !== undefined)
    throw new Error(`${path}: ${before}${both} is in the common half, which every interface has.`);
  return [...own.values(), ...common.values()];
}

type RootKind = Kind.OBJECT_TYPE_DEFINITION | Kind.OBJECT_TYPE_EXTENSION;

/** @param rootKind how the file declares `Query` and `Mutation` */
function readHalf(written: Written, rootKind: RootKind): Half {
  const half = emptyHalf();
  const { path, text } = written;
  const textOf = (node: DefinitionNode | FieldDefinitionNode): string => text.slice(node.loc?.start, node.loc?.end);
  const add = (parts: Parts, name: string, part: string): void => {
    if (parts.has(name)) throw new Error(`${path}: it has ${name} twice.`);
    parts.set(name, part);
  };
  for (const definition of definitionsIn(written)) {
    if (definition.kind === rootKind && roots.includes(definition.name.value)) {
      add(half.heads, definition.name.value, headOf(definition, written));
      for (const field of definition.fields ?? [])
        add(partsOf(half, definition.name.value), field.name.value, textOf(field));
    } else if (isTypeDefinitionNode(definition) && !roots.includes(definition.name.value)) {
      add(half.types, definition.name.value, textOf(definition));
    } else {
      throw new Error(`${path}: ${misplaced(definition, rootKind)}`);
    }
  }
  return half;
}

function misplaced(definition: DefinitionNode, rootKind: RootKind): string {
  const isOwn = rootKind === Kind.OBJECT_TYPE_DEFINITION;
  const isType = isTypeDefinitionNode(definition) || isTypeExtensionNode(definition);
  if (!isType) return `only types are composed, not ${definition.kind}.`;
  const name = definition.name.value;
  if (roots.includes(name)) return `write \`${isOwn ? '' : 'extend '}type ${name}\`.`;
  return isOwn
    ? `it cannot extend ${name}. An interface can only define its own types.`
    : `repeat the whole type ${name}. Only ${roots.join(' and ')} can be extended.`;
}

/** What precedes the braces. */
function headOf(root: ObjectTypeDefinitionNode | ObjectTypeExtensionNode, { path, text }: Written): string {
  const { loc, name, interfaces = [], directives = [] } = root;
  const last = [...interfaces, ...directives].at(-1);
  if (last !== undefined && root.kind === Kind.OBJECT_TYPE_EXTENSION)
    throw new Error(`${path}: an edition adds only fields to ${name.value}.`);
  return text.slice(loc?.start, (last ?? name).loc?.end);
}

function definitionsIn({ path, text }: Written): readonly DefinitionNode[] {
  // An edition can only remove something.
  if (text.replaceAll(/^#.*$/gm, '').trim() === '') return [];
  try {
    return parse(new Source(text, path)).definitions;
  } catch (error) {
    // With the path and the line.
    throw error instanceof GraphQLError ? new Error(String(error), { cause: error }) : error;
  }
}
