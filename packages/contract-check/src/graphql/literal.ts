import { Kind, type ConstValueNode, type TypeNode } from 'graphql';
import { namedType, type GraphqlContract, type InputValue } from './contract.ts';

/**
 * Prints literals that a server coerces to the same value as the same text: `1` and `[1]` for a list, `1` and `1.0` for
 * a Float, `1` and `"1"` for an ID, `{a: 1, b: 2}` and `{b: 2, a: 1}`, a string and a block string.
 *
 * @param type undefined if it is unknown, or anything inside a custom scalar
 * @param isFilled whether to add the defaults of the fields that an input object omits
 */
export function canonicalLiteral(
  contract: GraphqlContract,
  type: TypeNode | undefined,
  value: ConstValueNode,
  isFilled = false,
): string {
  const print = (innerType: TypeNode | undefined, inner: ConstValueNode): string =>
    canonicalLiteral(contract, innerType, inner, isFilled);
  if (type?.kind === 'NonNullType') return print(type.type, value);
  if (value.kind === Kind.NULL) return 'null';
  if (type?.kind === 'ListType' || value.kind === Kind.LIST) {
    const items = value.kind === Kind.LIST ? value.values : [value];
    return `[${items.map((item) => print(type?.kind === 'ListType' ? type.type : undefined, item)).join(',')}]`;
  }
  const name = type && namedType(type);
  if (value.kind === Kind.OBJECT) {
    const inputFields = contract.types.get(name ?? '')?.inputFields ?? new Map<string, InputValue>();
    const members = new Map(
      value.fields.map((field) => [field.name.value, print(inputFields.get(field.name.value)?.type, field.value)]),
    );
    // An old schema can contain a default of its own type, so the defaults in it are not added.
    for (const [absent, { type: fieldType, defaultValue }] of isFilled ? inputFields : [])
      if (defaultValue !== null && !members.has(absent))
        members.set(absent, canonicalLiteral(contract, fieldType, defaultValue));
    return `{${Array.from(members, ([member, text]) => `${member}:${text}`)
      .toSorted()
      .join(',')}}`;
  }
  if (name === 'Float' && (value.kind === Kind.INT || value.kind === Kind.FLOAT)) return String(Number(value.value));
  const isText = value.kind === Kind.STRING || (name === 'ID' && value.kind === Kind.INT);
  return isText ? JSON.stringify(value.value) : String(value.value);
}
