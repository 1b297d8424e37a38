import { readText } from '../workspace-files.ts';

/** The JSON Schema keywords that payloads are written with. */
export interface PayloadSchema {
  title?: string;
  type?: string | string[];
  const?: string;
  format?: string;
  pattern?: string;
  description?: string;
  properties?: Record<string, PayloadSchema>;
  required?: string[];
}

export interface PayloadField {
  /** For example `data.matter.id`. */
  path: string;
  type: string;
  /** Whether it can be null; its description then says what that means. */
  isNullable: boolean;
  description: string;
}

const known = ['title', 'type', 'const', 'format', 'pattern', 'description', 'properties', 'required'];
const remarks = ['$schema', '$comment'];

/** @param path of the published JSON Schema, from the root of the workspace */
export function readPayloadSchema(path: string): PayloadSchema {
  return JSON.parse(readText(path));
}

/**
 * Every field of a body, outer ones first.
 *
 * @throws Error for a keyword that this table would not show, and for a field that may be missing
 */
export function payloadFields(schema: PayloadSchema, parent = ''): PayloadField[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = parent === '' ? name : `${parent}.${name}`;
    const unknown = Object.keys(field).filter((keyword) => !known.includes(keyword) && !remarks.includes(keyword));
    if (unknown.length > 0) throw new Error(`${path}: the reference has no place for ${unknown.join(', ')}`);
    if (!schema.required?.includes(name)) throw new Error(`${path} may be missing: the reference says that none is`);
    const types = [field.type ?? []].flat();
    return [
      {
        path,
        type: typeInWords(field, types.filter((type) => type !== 'null').join(' or ')),
        isNullable: types.includes('null'),
        description: field.description ?? '',
      },
      ...payloadFields(field, path),
    ];
  });
}

function typeInWords({ const: constant, format, pattern }: PayloadSchema, type: string): string {
  if (constant !== undefined) return `\`${JSON.stringify(constant)}\``;
  if (pattern !== undefined) return `\`${gidForm(pattern)}\``;
  return format === undefined ? type : `${type}, ${format}`;
}

/** `gid://<namespace>/Referral/<number>` of the pattern of such an identifier. */
function gidForm(pattern: string): string {
  const [, typeName] = /^\^gid:\\\/\\\/\[a-z\]\[a-z0-9-\]\*\\\/(\w+)\\\/\[1-9\]\[0-9\]\*\$$/.exec(pattern) ?? [];
  if (typeName === undefined) throw new Error(`the reference has no words for the pattern ${pattern}`);
  return `gid://<namespace>/${typeName}/<number>`;
}
