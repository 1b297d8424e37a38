import { type Bench, type BenchOptions, benchOfParts, part } from '../bench.ts';
import { writePeerNames } from '../delivery/peer-names.ts';
import { measureDisk } from './disk.ts';
import { measurePressure, type Pressed } from './measure.ts';
import { type Pressure, pressures, sharedPressures } from './pressures.ts';
import { diskMarkdown, phasesMarkdown, soakMarkdown } from './report.ts';
import { withContestant, withOurs } from './scene.ts';
import { measureSoak } from './soak.ts';
import { startPeer } from './start-peer.ts';

function partOf(pressure: Pressure) {
  const measure = async (options: BenchOptions): Promise<{ phases: Pressed[] }> => ({
    phases: [await withOurs((scene) => measurePressure(scene, pressure, options))],
  });
  return part(pressure.title, measure, phasesMarkdown);
}

/** Beside the queues on PostgreSQL, one after another. */
function sharedPartOf(name: keyof typeof sharedPressures) {
  const pressure = sharedPressures[name];
  const measure = async (options: BenchOptions): Promise<{ phases: Pressed[] }> => {
    const phases = [await withOurs((scene) => measurePressure(scene, pressure, options))];
    for (const peer of writePeerNames) {
      const start: Parameters<typeof withContestant>[0] = (postgres, endpoints, defer) =>
        startPeer(postgres, peer, endpoints, defer);
      phases.push(await withContestant(start, (scene) => measurePressure(scene, pressure, options)));
    }
    return { phases };
  };
  return part(`${pressure.title}, beside ${writePeerNames.join(' and ')}`, measure, phasesMarkdown);
}

export const pressure: Bench = benchOfParts({
  name: 'pressure',
  summary: 'what stays of the rate while the database or the worker is held back, at half of the maximum',
  savesParts: true,
  parts: {
    snapshot: sharedPartOf('snapshot'),
    readers: partOf(pressures.readers),
    burst: partOf(pressures.burst),
    maximum: sharedPartOf('maximum'),
    restart: partOf(pressures.restart),
    backends: partOf(pressures.backends),
    connections: partOf(pressures.connections),
    kills: partOf(pressures.kills),
    disk: part('a file system that is 95 % full (root on Linux)', measureDisk, diskMarkdown),
    soak: part('45 minutes: dead rows, sizes and memory', measureSoak, soakMarkdown),
  },
});
