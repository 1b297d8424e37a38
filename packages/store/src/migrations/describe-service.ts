import { isOwnEventType, ofService } from '@deedwire/core';

/** What a database must know of a service, with the names of its columns. */
export interface DescribedService {
  /** `client_version`: the one that a new client is pinned to. */
  interfaces: { name: string; account_type: string; client_version: string | null }[];
  events: {
    type: string;
    interfaces: readonly string[];
    record_type: string | null;
    persons: readonly string[];
    addresses: string[];
    of_platform: boolean;
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
    interfaces: Object.entries(interfaces).map(([name, { account, versions }]) => ({
      name,
      account_type: account,
      client_version: versions.findLast(({ status }) => status === 'current')?.version ?? null,
    })),
    events: events.map(({ type, interfaces: names, record, persons: paths, address }) => ({
      type,
      interfaces: names,
      record_type: record?.type ?? null,
      persons: paths,
      addresses: address === null ? [] : [address],
      of_platform: isOwnEventType(type),
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
