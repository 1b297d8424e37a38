import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The requests that the APIs accepted. Each is on disk before the load continues, so that no fault can change it. */
export interface AcceptedLog {
  path: string;
  add(entry: AcceptedEvent): Promise<void>;
  read(): Promise<AcceptedEvent[]>;
  /** Removes the file. */
  close(): Promise<void>;
}

export interface AcceptedEvent {
  accountId: string;
  /** Of the record that was written. Each causes one event. */
  recordId: string;
}

export async function openAcceptedLog(): Promise<AcceptedLog> {
  const directory = await mkdtemp(join(tmpdir(), 'deedwire-accepted-'));
  const path = join(directory, 'accepted.log');
  const file = await open(path, 'a');
  return {
    path,
    async add({ accountId, recordId }) {
      await file.write(`${accountId} ${recordId}\n`);
      await file.datasync();
    },
    async read() {
      const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
      return lines.map((line) => {
        const [accountId = '', recordId = ''] = line.split(' ');
        return { accountId, recordId };
      });
    },
    async close() {
      await file.close();
      await rm(directory, { recursive: true });
    },
  };
}
