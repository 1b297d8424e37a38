import { ifValid } from '../input-error.ts';
import type { SharedSteps } from '../json-schema/budget.ts';
import { compareInSteps } from '../json-schema/compare-json-schema.ts';
import { remembered } from '../remembered.ts';

interface Lacking {
  readonly rule: 'deploy/snapshotInsufficient' | 'deploy/snapshotNotCompared';
  readonly problem: string;
}

/** Why the worker of an app cannot render from a snapshot of another app, or why that is unknown. Null if it can. */
export type FitOf = ReturnType<typeof snapshotFit>;

/** For all comparisons of two apps together, which takes less than half a minute. Those of the builds of a release take a thousandth. */
const maxStepsOfApps = 4_000_000;
/** Reading a text of so many characters takes as long as a step of a comparison. */
const charactersPerStep = 20;

/** Compares each snapshot once, and those of two apps within a limit, so that many builds of one app delay no other answer. */
export function snapshotFit() {
  const stepsOf = remembered(
    (_writer: string, _worker: string): SharedSteps => ({ left: maxStepsOfApps }),
    (...apps) => JSON.stringify(apps),
  );
  const numbers = new Map<object, number>();
  const numberOf = (schema: object): number => {
    numbers.set(schema, numbers.get(schema) ?? numbers.size);
    return numbers.get(schema) ?? 0;
  };
  return remembered(
    (writer: string, snapshot: object, worker: string, needs: object): Lacking | null => {
      const steps = stepsOf(writer, worker);
      const [needed, appended] = [sourceOf('needs', needs), sourceOf('snapshot', snapshot)];
      steps.left -= (needed.text.length + appended.text.length) / charactersPerStep;
      if (steps.left < 0) {
        const problem = `comparing the contracts of ${writer} and ${worker} takes more than ${maxStepsOfApps} steps.`;
        return { rule: 'deploy/snapshotNotCompared', problem };
      }
      return ifValid<Lacking>(
        () => {
          // A renderer lists the values of an enum only if its payload rejects others.
          const settings = { direction: 'producer', closedOutputs: true } as const;
          const { changes } = compareInSteps(needed, appended, settings, steps);
          // Fewer values are enough.
          const broken = changes.find(
            ({ rule, verdict }) => verdict === 'major' && rule !== 'json-schema/enumValueRemoved',
          );
          if (broken === undefined) return null;
          return { rule: 'deploy/snapshotInsufficient', problem: `${broken.coordinate}: ${broken.message}` };
        },
        ({ message }) => ({ rule: 'deploy/snapshotNotCompared', problem: message }),
      );
    },
    (writer, snapshot, worker, needs) => `${writer} ${numberOf(snapshot)} ${worker} ${numberOf(needs)}`,
  );
}

function sourceOf(file: string, schema: object) {
  return { file, text: JSON.stringify(schema) };
}
