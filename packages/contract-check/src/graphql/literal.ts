import { Kind, type ConstValueNode, type TypeNode } from 'graphql';
import { namedType, type GraphqlContract } from './contract.ts';

/**
 * Prints literals that a server coerces to the same value as the same text: `1` and `[1]` for a list, `1` and `1.0` for
 * a Float, `1` and `"1"` for an ID, `{a: 1, b: 2}` and `{b: 2, a: 1}`, a string and a block string.
 *
 * @param isFilled whether to add the defaults of the fields that an input object omits
 */
export function canonicalLiteral(
  contract: GraphqlContract,
  type: TypeNode,
  value: ConstValueNode,
  isFilled = false,
): string {
  if (value.kind === Kind.NULL) return 'null';
  if (type.kind === 'NonNullType') return canonicalLiteral(contract, type.type, value, isFilled);
  if (type.kind === 'ListType') {
    const items = value.kind === Kind.LIST ? value.values : [value];
    return `[${items.map((item) => canonicalLiteral(contract, type.type, item, isFilled)).join(',')}]`;
  }
  const inputFields = contract.types.get(namedType(type))?.inputFields;
  if (value.kind === Kind.OBJECT && inputFields !== undefined && inputFields.size > 0) {
    const members = new Map(
      value.fields.map((field) => {
        const fieldType = inputFields.get(field.name.value)?.type;
        const text = fieldType && canonicalLiteral(contract, fieldType, field.value, isFilled);
        return [field.name.value, text ?? untyped(field.value)];
      }),
    );
    // An old schema can contain a default of its own type, so the defaults in it are not added.
    for (const { name, type: fieldType, defaultValue } of isFilled ? inputFields.values() : [])
      if (defaultValue !== null && !members.has(name))
        members.set(name, canonicalLiteral(contract, fieldType, defaultValue));
    return `{${Array.from(members, ([name, text]) => `${name}:${text}`)
      .toSorted()
      .join(',')}}`;
  }
  const name = namedType(type);
  if (name === 'Float' && (value.kind === Kind.INT || value.kind === Kind.FLOAT)) return String(Number(value.value));
  if (name === 'ID' && value.kind === Kind.INT) return JSON.stringify(value.value);
  return untyped(value);
}

function untyped(value: ConstValueNode): string {
  if (value.kind === Kind.NULL) return 'null';
  if (value.kind === Kind.STRING) return JSON.stringify(value.value);
  if (value.kind === Kind.LIST) return `[${value.values.map(untyped).join(',')}]`;
  if (value.kind === Kind.OBJECT) {
    return `{${value.fields
      .map((field) => `${field.name.value}:${untyped(field.value)}`)
      .toSorted()
      .join(',')}}`;
  }
  return String(value.value);
}
