import { ResponseBody } from './generated/documents.ts';
import { useMay } from './session.ts';
import { useQuery } from './use-query.ts';

/**
 * The beginning of what the endpoint responded to the newest attempt of a delivery. Null if that is no text or not stored yet, and
 * if the session may not read it.
 *
 * @param id null asks for nothing
 * @param number of the newest attempt, if it is known
 */
export function useResponseText(id: string | null, number?: number): string | null {
  const mayRead = useMay('READ_PAYLOAD');
  const query = useQuery(ResponseBody, mayRead && id !== null ? { id } : null, null);
  const attempt = query.data?.webhookDelivery?.attempts[0];
  if (number !== undefined && attempt?.number !== number) return null;
  return attempt?.exchange?.responseBody || null;
}

/** The first lines that are not empty. */
export function beginningOf(text: string, lines: number): string {
  const all = text.split('\n').filter((line) => line.trim() !== '');
  return all.length > lines ? `${all.slice(0, lines).join('\n')}\n…` : all.join('\n');
}
