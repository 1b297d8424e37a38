interface Hour {
  readonly hour: string;
  readonly deliveredCount: number;
  readonly failedAttemptCount: number;
}

const height = 34;

/** Delivered and failed of each hour, on one scale. What is not zero has at least 2 pixels. */
export function Bars({ hours }: { hours: readonly Hour[] }) {
  const largest = Math.max(1, ...hours.map((hour) => hour.deliveredCount + hour.failedAttemptCount));
  const sizeOf = (count: number) => (count === 0 ? 0 : Math.max(2, (count / largest) * (height - 4)));
  const total = (name: 'deliveredCount' | 'failedAttemptCount') => hours.reduce((sum, hour) => sum + hour[name], 0);
  const label = `${total('deliveredCount')} delivered, ${total('failedAttemptCount')} failed attempts in ${hours.length} hours`;
  const bars = hours.map(({ hour, deliveredCount, failedAttemptCount }, at) => {
    const delivered = Math.max(1, sizeOf(deliveredCount));
    const failed = sizeOf(failedAttemptCount);
    return (
      <g key={hour} transform={`translate(${at * 10})`}>
        <rect y={height - delivered} width="8" height={delivered} />
        <rect className="failed" y={height - delivered - failed} width="8" height={failed} />
      </g>
    );
  });
  return (
    <svg className="bars" viewBox={`0 0 ${hours.length * 10} ${height}`} preserveAspectRatio="none" role="img">
      <title>{label}</title>
      {bars}
    </svg>
  );
}
