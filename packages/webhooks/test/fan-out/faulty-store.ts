import type { Statement, Store } from '@deedwire/store';

/** Replaces one statement: `run` executes it. */
export type Intercept = <Row>(
  run: () => Promise<Row[]>,
  statement: Statement,
  values: readonly unknown[],
) => Promise<Row[]>;

/** A store that passes statements with given names to functions. */
export function interceptStore(store: Store, intercepts: Readonly<Record<string, Intercept>>): Store {
  return {
    ...store,
    query(statement, values) {
      const intercept = intercepts[statement.name];
      if (intercept === undefined) return store.query(statement, values);
      return intercept(() => store.query(statement, values), statement, values);
    },
  };
}

/** Whether accounts are read with these values to find entries that they have passed. */
export const isLook = ([, , after, entriesMax]: readonly unknown[]): boolean =>
  /^\{0(,0)*\}$/.test(String(after)) && /^\{1(,1)*\}$/.test(String(entriesMax));

/** Whether a round with these values writes deliveries. One that only deletes entries of changes does not. */
export const hasDeliveries = (values: readonly unknown[]): boolean => values[12] !== '{}';
