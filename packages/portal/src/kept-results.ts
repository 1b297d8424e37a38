import type { DocumentId } from './generated/documents.ts';
import { isReturn } from './history.ts';
import { gateNow, type Session } from './session.ts';

interface Result<Data> {
  readonly data: Data;
  readonly readAtMs: number;
  readonly ageMs: () => number;
}

const mostResults = 30;
/** The last results of a session by their operation and variables, and their data as JSON. They end with the session. */
const kept = new WeakMap<Session, Map<string, Result<string>>>();

/** Returns the function that keeps a result of the session of now. */
export function keeper<Data, Variables>(documentId: DocumentId<Data, Variables>, key: string) {
  const gate = gateNow();
  const results = (gate.kind === 'open' && kept.get(gate.session)) || new Map<string, Result<string>>();
  if (gate.kind === 'open') kept.set(gate.session, results);
  return (result: Result<Data>) => {
    results.delete(documentId + key);
    results.set(documentId + key, { ...result, data: JSON.stringify(result.data) });
    for (const oldest of [...results.keys()].slice(0, -mostResults)) results.delete(oldest);
  };
}

/** What Back and Forward show at once. Undefined on a new entry of the history. */
export function keptResult<Data, Variables>(
  documentId: DocumentId<Data, Variables>,
  key: string | null,
): Result<Data> | undefined {
  const gate = gateNow();
  const result = gate.kind === 'open' && isReturn() ? kept.get(gate.session)?.get(documentId + key) : undefined;
  return result && { ...result, data: JSON.parse(result.data) };
}
