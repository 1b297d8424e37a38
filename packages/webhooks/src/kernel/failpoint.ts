/**
 * A place where a fault test kills this process with SIGKILL, so that the test decides what was done before.
 * `DEEDWIRE_FAILPOINT` names the place, and how often the process passes it before: `settle-after-write:3`. Without the
 * variable, failpoints do nothing.
 */
export type Failpoint =
  | 'fan-out-before-write'
  | 'fan-out-after-write'
  | 'replay-before-write'
  | 'replay-after-write'
  | 'replay-after-offer'
  | 'dispatch-after-send'
  | 'dispatch-after-response'
  | 'settle-before-write'
  | 'settle-after-write';

let armed: { name: string; remaining: number } | null = null;

/** @param setting the value of `DEEDWIRE_FAILPOINT`; undefined or empty disarms */
export function armFailpoint(setting: string | undefined): void {
  if (setting === undefined || setting === '') {
    armed = null;
    return;
  }
  const [name = '', passes = '0'] = setting.split(':');
  armed = { name, remaining: Number(passes) };
}

export function failpoint(name: Failpoint): void {
  if (armed === null || armed.name !== name) return;
  if (armed.remaining > 0) armed.remaining -= 1;
  else process.kill(process.pid, 'SIGKILL');
}
