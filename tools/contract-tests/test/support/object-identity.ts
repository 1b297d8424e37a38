import { executeSync, getNamedType, type GraphQLSchema, isLeafType, parse } from 'graphql';

/** A response, with the request that it answers. */
export interface Answered {
  readonly document: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly data: unknown;
}

/**
 * Finds the fields that have two values for one object, as a client that normalizes objects takes them: two objects of a type with the
 * same `id` are one, and an object without an `id` belongs to the one that contains it. For example `WebhookEvent.deliveryId`.
 *
 * @param responses of one state of the records
 */
export function conflictsIn(schema: GraphQLSchema, responses: readonly Answered[]): string[] {
  const values = new Map<string, string>();
  const conflicts = new Set<string>();
  for (const { document, variables = {}, data } of responses) {
    const names = new Map<unknown, string>([[data, '']]);
    const { errors } = executeSync({
      schema,
      document: parse(document),
      rootValue: data,
      variableValues: variables,
      // Runs for each field of the response, an object before what it contains.
      fieldResolver(source: Readonly<Record<string, unknown>>, args, _, { fieldName, parentType, path, returnType }) {
        const object = typeof source['id'] === 'string' ? `${parentType.name} ${source['id']}` : names.get(source);
        const name = `${object}.${fieldName}(${JSON.stringify(args)})`;
        const value = source[path.key];
        if (isLeafType(getNamedType(returnType))) {
          const text = JSON.stringify(value);
          if ((values.get(name) ?? text) !== text) conflicts.add(`${parentType.name}.${fieldName}`);
          values.set(name, text);
        } else [value].flat().forEach((each, index) => names.set(each, `${name}[${index}]`));
        return value;
      },
    });
    if (errors !== undefined) throw new AggregateError(errors, `The response is not one of ${document}`);
  }
  return [...conflicts];
}
