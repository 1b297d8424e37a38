/** `node --import` this: the process's clock is wrong by CLOCK_SKEW_MS milliseconds, and otherwise like any other. */
const RealDate = Date;
// oxlint-disable-next-line node/no-process-env -- a process's own clock is set by its environment
const skewMs = Number(process.env['CLOCK_SKEW_MS']);
const now = (): number => RealDate.now() + skewMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
});
