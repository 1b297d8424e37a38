import type { DocumentId } from './generated/documents.ts';
import { isReturn } from './history.ts';
import { gateNow, onGate } from './session.ts';

interface Result<Data> {
  readonly data: Data;
  readonly readAtMs: number;
  readonly ageMs: () => number;
}

const mostResults = 30;
/** The last results of the session by their operation and variables, and their data as JSON. */
let kept = new Map<string, Result<string>>();

// They end with the session, and so do those of requests that it still sends.
onGate(() => {
  if (gateNow().kind !== 'open') kept = new Map();
});

/** Returns the function that keeps a result of the session of now. */
export function keeper<Data, Variables>(documentId: DocumentId<Data, Variables>, key: string) {
  const results = kept;
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
  const result = isReturn() ? kept.get(documentId + key) : undefined;
  return result && { ...result, data: JSON.parse(result.data) };
}
