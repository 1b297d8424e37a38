import type { ClientBase, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import { StoreUnavailableError } from '../kernel/errors.ts';
import { arePlain, PreparedQuery } from './prepared-query.ts';

/** What is read of a result. */
export type QueryAnswer<Row extends QueryResultRow> = Pick<QueryResult<Row>, 'rows' | 'rowCount' | 'command'>;

/**
 * Runs a query. If the server does not respond in time, the connection can no longer be used.
 *
 * It uses the callback of pg. With the promise of pg, or its `query_timeout`, each finished query and its rows stay in memory
 * until the next full garbage collection, and the partial collections before it copy them, for several milliseconds each.
 *
 * @throws {StoreUnavailableError} after `timeoutMs`; otherwise the error of pg
 */
export function queryInTime<Row extends QueryResultRow>(
  client: ClientBase,
  query: QueryConfig,
  timeoutMs: number,
): Promise<QueryResult<Row>> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(noResponse(timeoutMs)), timeoutMs);
    client.query<Row>(query, (error: Error | undefined, result) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve(result);
    });
  });
}

/** As `queryInTime`, for a connection that is not in pipeline mode. Sends and parses less for a prepared statement. */
export function queryPreparedInTime<Row extends QueryResultRow>(
  client: ClientBase,
  query: QueryConfig,
  timeoutMs: number,
): Promise<QueryAnswer<Row>> {
  const { name, text, values = [] } = query;
  // An empty name stands for none.
  if (name === undefined || name === '') return queryInTime<Row>(client, query, timeoutMs);
  // Its own name, so that a query of ours that fails cannot close the statement of pg.
  if (!arePlain(values)) return queryInTime<Row>(client, { ...query, name: `${name}+` }, timeoutMs);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(noResponse(timeoutMs)), timeoutMs);
    client.query(
      new PreparedQuery<Row>({ name, text, values }, (error, result) => {
        clearTimeout(timer);
        if (error) reject(error);
        else resolve(result);
      }),
    );
  });
}

function noResponse(timeoutMs: number): StoreUnavailableError {
  return new StoreUnavailableError(new Error(`The server did not respond within ${timeoutMs} ms.`));
}
