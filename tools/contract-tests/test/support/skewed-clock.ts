/** Shifts the clock of the process by CLOCK_SKEW_MS milliseconds. Load it with `node --import`. */
const RealDate = Date;
const skewMs = Number(process.env['CLOCK_SKEW_MS']);
const now = (): number => RealDate.now() + skewMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, dateArguments, newTarget) =>
    Reflect.construct(target, dateArguments.length === 0 ? [now()] : dateArguments, newTarget),
  get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
});
