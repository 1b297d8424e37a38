import {
  buildSchema,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isEnumType,
  isObjectType,
  getNamedType,
  print,
} from 'graphql';

/** The largest values of the contract, by coordinate: the characters of a text or the items of a list. */
export interface LargestValues {
  characters: Readonly<Record<string, number>>;
  items: Readonly<Record<string, number>>;
  /** By the name of a field that is null whenever the other one of its type has a value: the name of the other. */
  otherwise: Readonly<Record<string, string>>;
}

class InvalidPage extends Error {
  readonly code = 'BAD_USER_INPUT';
}

const instant = '2026-11-03T09:30:00.000Z';

/**
 * A schema that answers every field with the largest value that the contract allows, and no field with null: only one whose
 * alternative is selected too.
 *
 * @param character what texts consist of
 */
export function largestSchema(
  sdl: string,
  { characters, items, otherwise }: LargestValues,
  character: string,
): GraphQLSchema {
  const schema = buildSchema(sdl);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const coordinate = `${type.name}.${field.name}`;
      const named = getNamedType(field.type);
      const text = character.repeat(characters[coordinate] ?? 0);
      const longest = isEnumType(named)
        ? named.getValues().reduce((one, { name }) => (name.length > one.length ? name : one), '')
        : '';
      const leaf = (): unknown => {
        if (isEnumType(named)) return longest;
        if (named.name === 'Int') return 2_147_483_647;
        if (named.name === 'Long') return Number.MAX_SAFE_INTEGER;
        if (named.name === 'Float') return -Number.MAX_VALUE;
        if (named.name === 'Boolean') return false;
        if (named.name === 'ID') return `gid://service/WebhookSubscription/${2n ** 62n}`;
        if (named.name === 'Date' || named.name === 'DateTime') return instant;
        return text === '' ? 'x'.repeat(60) : text;
      };
      const value = isObjectType(named) ? () => ({}) : leaf;
      const count = items[coordinate];
      const isList = String(field.type).startsWith('[');
      const many = (length: number): unknown[] => Array.from({ length }, value);
      const other = otherwise[field.name];
      const resolve: GraphQLFieldResolver<{ page?: number }, unknown> = (source, args, _context, info) => {
        if (other !== undefined && selectsField(info, other)) return null;
        if (field.args.some(({ name }) => name === 'first')) {
          const first = Number(args['first'] ?? 20);
          if (first < 1 || first > 100) throw new InvalidPage(`\`first\` must be 1 to 100; it is ${first}.`);
          return isList ? many(Math.min(first, count ?? 100)) : { page: Math.min(first, count ?? 100) };
        }
        if (field.args.some(({ name }) => name === 'hours')) {
          const hours = Number(args['hours'] ?? 24);
          if (hours < 1 || hours > 168) throw new InvalidPage(`\`hours\` must be 1 to 168; it is ${hours}.`);
          return many(hours);
        }
        if (!isList) return value();
        const length = Array.isArray(args['ids']) ? args['ids'].length : (count ?? source.page);
        if (length === undefined) throw new Error(`There is no largest number of items for ${coordinate}.`);
        return many(length);
      };
      field.resolve = resolve;
    }
  }
  return schema;
}

/** Whether an operation or a fragment of its document has the field, under any alias. */
function selectsField({ operation, fragments }: GraphQLResolveInfo, name: string): boolean {
  const fieldNames = [operation, ...Object.values(fragments)].map((node): string[] => print(node).match(/\w+/g) ?? []);
  return fieldNames.some((names) => names.includes(name));
}
