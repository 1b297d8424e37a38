import type { ClientBase, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import { StoreUnavailableError } from './errors.ts';

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
    const timer = setTimeout(() => {
      reject(new StoreUnavailableError(new Error(`The server did not respond within ${timeoutMs} ms.`)));
    }, timeoutMs);
    client.query<Row>(query, (error: Error | undefined, result) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve(result);
    });
  });
}
