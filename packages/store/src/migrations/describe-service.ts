import { ofService } from '@deedwire/core';

/** What a database must know of a service, with the names of its columns. */
export interface DescribedService {
  interfaces: { name: string; account_type: string }[];
  events: {
    type: string;
    interfaces: readonly string[];
    record_type: string | null;
    persons: readonly string[];
    addresses: string[];
  }[];
  persons: {
    relation: string;
    record_type: string;
    columns: string[];
    addresses: string[];
    known_by: readonly string[];
  }[];
  actions: { action: string; of_operators: boolean; removes: boolean }[];
  /** The arguments of own_table() and own_sequence(). */
  tables: readonly string[];
  sequences: string[];
}

export const describeService = ofService(
  ({ interfaces, events, persons, tables, sequences, auditActions, clientActions }): DescribedService => ({
    interfaces: Object.entries(interfaces).map(([name, { account }]) => ({ name, account_type: account })),
    events: events.map(({ type, interfaces: names, record, persons: paths, address }) => ({
      type,
      interfaces: names,
      record_type: record,
      persons: paths,
      addresses: address === null ? [] : [address],
    })),
    persons: persons.map(({ table, record, address, columns, knownBy }) => ({
      relation: table,
      record_type: record,
      columns: [address, ...columns],
      addresses: [address],
      known_by: knownBy,
    })),
    actions: Object.entries(auditActions).map(([action, kind]) => ({
      action,
      of_operators: !clientActions.includes(action),
      removes: kind === 'delete',
    })),
    tables,
    sequences: Object.keys(sequences),
  }),
);
