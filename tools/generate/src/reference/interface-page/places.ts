import {
  getNamedType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql';
import type { Example } from '../examples.ts';
import type { InterfaceVersion } from '../interface-contracts.ts';
import { anchor } from '../markdown.ts';

/** The kind keeps the pages of a query and a mutation of one name apart. */
export function operationPage(version: string, { kind, operation }: Example): string {
  return `${version}/${kind}-${operation}.md`;
}

/** The page of the types that several operations have. */
export function typesPage(version: string): string {
  return `${version}.types.md`;
}

/** Where the pages of a version describe its types. Paths are relative to the folder of the interface. */
export interface Places {
  /** The types that a page describes, by name. */
  of(page: string): readonly GraphQLNamedType[];
  /** The target of a link from a page to the section of a type. */
  from(page: string): (type: GraphQLNamedType) => string;
}

/** A type that one operation alone has is on the page of the operation. */
export function placesOf({ version, schema, examples }: InterfaceVersion): Places {
  const users = new Map<GraphQLNamedType, string[]>();
  for (const example of examples)
    for (const type of typesOf(schema, example))
      users.set(type, [...(users.get(type) ?? []), operationPage(version, example)]);
  const pageOf = (type: GraphQLNamedType): string => {
    const [page, ...others] = users.get(type) ?? [];
    return page === undefined || others.length > 0 ? typesPage(version) : page;
  };
  const described = Object.values(schema.getTypeMap())
    .filter((type) => isDescribed(schema, type))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return {
    of: (page) => described.filter((type) => pageOf(type) === page),
    from: (page) => {
      const up = page.includes('/') ? '../' : '';
      return (type) => {
        const target = pageOf(type);
        return `${target === page ? '' : up + target}${anchor(type.name)}`;
      };
    },
  };
}

/** True if a page has a section for the type. */
function isDescribed(schema: GraphQLSchema, type: GraphQLNamedType): boolean {
  const isRoot = type === schema.getQueryType() || type === schema.getMutationType();
  return !isRoot && !isIntrospectionType(type) && !isSpecifiedScalarType(type);
}

/** All types of the arguments and the result of an operation, with those of their fields. */
function typesOf(schema: GraphQLSchema, { kind, operation }: Example): Set<GraphQLNamedType> {
  const field = schema.getRootType(kind)?.getFields()[operation];
  const found = new Set<GraphQLNamedType>();
  const open = field === undefined ? [] : [field.type, ...field.args.map(({ type }) => type)].map(getNamedType);
  for (let type = open.pop(); type !== undefined; type = open.pop()) {
    if (found.has(type)) continue;
    found.add(type);
    if (isObjectType(type) || isInterfaceType(type)) {
      for (const { type: of, args } of Object.values(type.getFields()))
        open.push(getNamedType(of), ...args.map((argument) => getNamedType(argument.type)));
      open.push(...type.getInterfaces());
    } else if (isInputObjectType(type))
      open.push(...Object.values(type.getFields()).map((member) => getNamedType(member.type)));
  }
  return found;
}
