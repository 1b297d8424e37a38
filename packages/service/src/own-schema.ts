import * as z from 'zod';

const ownClasses = new Set<unknown>(Object.values(z));

/**
 * A schema of another copy of zod would be checked by other code than the one that this package was tested with.
 *
 * @param path names the schema in the error
 * @throws {TypeError}
 */
export function requireOwnSchema(schema: z.ZodType, path: string): void {
  const stray = findForeign(schema, path);
  if (stray !== null)
    throw new TypeError(
      `${stray} is made by another copy of zod. Make the schemas of events with the \`z\` that @deedwire/service exports.`,
    );
}

/** The path of a schema that another copy of zod has made. Null: there is none. */
function findForeign(value: unknown, path: string): string | null {
  if (!isObject(value)) return null;
  const internals = value['_zod'];
  // A schema of zod 3 has only `_def`.
  if (!isObject(internals)) return '_def' in value ? path : null;
  if (!ownClasses.has(internals['constr'])) return path;
  const { shape, element, innerType } = Object(internals['def']);
  const fields = isObject(shape) ? Object.entries(shape) : [];
  return (
    fields.map(([name, field]) => findForeign(field, `${path}.${name}`)).find((found) => found !== null) ??
    findForeign(element, `${path}[]`) ??
    findForeign(innerType, path)
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
