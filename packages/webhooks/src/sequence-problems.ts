import { selectSequences, StoreUnavailableError, type Store } from '@deedwire/store';

/** Events below the position of a subscription are not for it, and the id of a worker is its fence. */
const sequencesOfWorkers = ['webhook_queue_position', 'webhook_worker_id_seq'];

/** A sequence whose next number is not beyond the numbers that rows contain. An operator must advance it. */
export interface SequenceBehindEvent {
  readonly kind: 'sequence-behind';
  readonly alarm: true;
  readonly sequence: string;
  readonly command: string;
}

const command = 'deedwire-operator database advance-sequences';

/**
 * Returns the sequences that are behind the rows of the database, one sentence each. While there is one, no worker may
 * start: it would skip events without a trace. Reports each one once.
 */
export function createSequenceCheck(
  store: Pick<Store, 'query'>,
  onEvent: (event: SequenceBehindEvent) => void,
): () => Promise<string[]> {
  const reported = new Set<string>();
  return async () => {
    try {
      const states = await selectSequences(store);
      const behind = states.filter(({ name, isBehind }) => isBehind && sequencesOfWorkers.includes(name));
      for (const { name } of behind) {
        if (!reported.has(name)) onEvent({ kind: 'sequence-behind', alarm: true, sequence: name, command });
        reported.add(name);
      }
      return behind.map(
        ({ name, lastNumber, highestUsed }) =>
          `The sequence ${name} is at ${lastNumber}, but the rows of the database contain ${highestUsed}. Run \`${command}\`.`,
      );
    } catch (error) {
      // Readiness also reports whether the database is available.
      if (error instanceof StoreUnavailableError) return [];
      throw error;
    }
  };
}
