import {
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';

/** The types of the records that the owner of a webhook refers to. */
export type IdType = 'WebhookDelivery' | 'WebhookListener' | 'WebhookReplay' | 'WebhookSubscription';

export interface OperationWithId {
  name: string;
  idType: IdType;
  /** The operation with everything that it returns, about this id. */
  document: (id: string) => string;
}

/** Selects every field, with the sample of an argument that it needs. Records lead to others, so it ends at connections and at types that it is in. */
export function selectAll(type: GraphQLObjectType, parents: readonly string[] = []): string {
  const fields = Object.values(type.getFields()).map((field) => {
    const named = getNamedType(field.type);
    const required = field.args
      .filter((each) => isNonNullType(each.type))
      .map((each) => `${each.name}: ${sampleOf(each)}`);
    if (!isObjectType(named)) return required.length > 0 ? `${field.name}(${required.join(' ')})` : field.name;
    const isRecord = parents.includes(named.name) || named.name.endsWith('Connection');
    const page = field.args.some((argument) => argument.name === 'first') ? '(first: 1)' : '';
    return isRecord ? '' : `${field.name}${page} ${selectAll(named, [...parents, type.name])}`;
  });
  return `{ ${fields.join(' ')} }`;
}

/** The operations of a schema about webhooks that take an id: as an argument, or as a field of their input. */
export function operationsWithId(schema: GraphQLSchema): OperationWithId[] {
  return (['query', 'mutation'] as const).flatMap((kind) => {
    const root = kind === 'query' ? schema.getQueryType() : schema.getMutationType();
    return Object.values(root?.getFields() ?? {}).flatMap((field) => {
      const [input] = field.args;
      const inputType = input && getNamedType(input.type);
      const members = isInputObjectType(inputType) ? Object.values(inputType.getFields()) : field.args;
      const idMember = members.find(({ name, type }) => isId(type) && name !== 'idempotencyKey');
      if (idMember === undefined || !/webhook/i.test(field.name)) return [];
      const result = getNamedType(field.type);
      const selection = isObjectType(result) ? resultSelection(result) : '';
      const document = (id: string): string => {
        const values = members.flatMap((member) => {
          const value = member === idMember ? JSON.stringify(id) : sampleOf(member);
          return value === null ? [] : [`${member.name}: ${value}`];
        });
        const list = values.join(' ');
        const written = isInputObjectType(inputType) ? `input: { ${list} }` : list;
        return `${kind} { ${field.name}(${written}) ${selection} }`;
      };
      return idTypesOf(field.name, idMember.name).map((idType) => ({ name: field.name, idType, document }));
    });
  });
}

function isId(type: GraphQLInputType): boolean {
  return getNamedType(type).name === 'ID';
}

function idTypesOf(operation: string, member: string): IdType[] {
  if (['sendTestWebhookEvent', 'webhookEvents'].includes(operation)) return ['WebhookSubscription', 'WebhookListener'];
  if (member !== 'id') return ['WebhookSubscription'];
  if (operation.includes('Listener')) return ['WebhookListener'];
  if (operation.includes('Replay')) return ['WebhookReplay'];
  return operation.includes('Delivery') ? ['WebhookDelivery'] : ['WebhookSubscription'];
}

/** A connection has its records in `nodes`. */
function resultSelection(type: GraphQLObjectType): string {
  if (!type.name.endsWith('Connection')) return selectAll(type);
  const { nodes } = type.getFields();
  const node = nodes && getNamedType(nodes.type);
  return isObjectType(node) ? `{ nodes ${selectAll(node)} }` : '{ pageInfo { hasNextPage } }';
}

/** A value for a member that needs one. Null if it needs none. */
function sampleOf({ name, type }: GraphQLArgument | GraphQLInputField): string | null {
  if (name === 'first') return '1';
  if (name === 'version') return '"2026-11-01"';
  if (name === 'name') return '"Changed"';
  if (!isNonNullType(type)) return null;
  const { ofType } = type;
  if (isListType(ofType)) return '[]';
  const named = getNamedType(ofType);
  if (isEnumType(named)) return named.getValues()[0]?.name ?? null;
  return named.name === 'Int' ? '1' : '"sample"';
}
