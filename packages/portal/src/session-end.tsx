import { useEffect, useState } from 'preact/hooks';
import { Use } from './generated/documents.ts';
import { type Failure, failureOf, isEnd, request, send } from './request.ts';
import { gateNow, isKept, leaveSession, type Session, setTimeLeft, timeLeft } from './session.ts';
import { startStopwatch } from './stopwatch.ts';
import { formatTime } from './time.ts';
import { Problem } from './ui/problem.tsx';
import { useClock } from './ui/time.tsx';

let isAsking = false;
/** How many answers in a row were no newer than the last one. Within a second of it, one of the server can be so too. */
let keptAnswers = 0;

/** Asks whether the session is live, which is no use of it. Without an answer, the page is hidden once the session can have ended. */
async function askForSession(): Promise<void> {
  if (isAsking) return;
  isAsking = true;
  const asker = gateNow();
  const { idleEndsMs } = timeLeft();
  const passedMs = startStopwatch();
  try {
    const session = await request<Session>('GET', 'session', undefined, AbortSignal.timeout(10_000));
    if (asker.kind !== 'open' || session.id !== asker.session.id) throw new Error('An answer about another session.');
    keptAnswers = isKept(session) ? keptAnswers + 1 : 0;
    if (keptAnswers > 1) throw new Error('Something in front of the server keeps its answers.');
    // Unless it was used meanwhile.
    if (timeLeft().idleEndsMs <= idleEndsMs) setTimeLeft(session, passedMs);
  } catch (error) {
    const left = timeLeft();
    if (gateNow() !== asker) return;
    if (isEnd(error)) leaveSession('ended');
    else if (Math.min(left.expiresMs, left.idleEndsMs) <= 0) leaveSession('unchecked');
  } finally {
    isAsking = false;
  }
}

/** Asks a minute before the session ends, and stays for it; and asks when it has to have ended, and when the page is seen again. */
export function SessionEnd() {
  const now = useClock(1000);
  const { expiresMs, idleEndsMs, isLastMinute, passedMs } = timeLeft();
  const leftMs = Math.min(expiresMs, idleEndsMs);
  const isOver = leftMs <= 0;
  const isNear = leftMs <= 60_000;
  const [failure, setFailure] = useState<Failure | null>(null);
  const [stayed, setStayed] = useState({ agoMs: () => Infinity });

  useEffect(() => {
    // According to the last response of the server. It is not asked again each second: something in front of it may have kept its answer.
    if (isOver && passedMs() < 10_000) leaveSession('ended');
    else if (isOver || (isNear && !isLastMinute)) void askForSession();
  }, [isOver, isNear, passedMs]);
  useEffect(() => {
    const ask = () => void askForSession();
    const onVisible = () => document.visibilityState === 'visible' && ask();
    const onShow = ({ persisted }: PageTransitionEvent) => persisted && ask();
    document.addEventListener('visibilitychange', onVisible);
    addEventListener('pageshow', onShow);
    return () => {
      document.removeEventListener('visibilitychange', onVisible);
      removeEventListener('pageshow', onShow);
    };
  }, []);

  const stay = async () => {
    setFailure(null);
    try {
      await send(Use, {});
      setStayed({ agoMs: startStopwatch() });
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  const end = formatTime(now + leftMs, now);
  return (
    <div className="stay" role="status">
      {isLastMinute && (
        <div className="why warn">
          {expiresMs > idleEndsMs ? (
            <>
              <p>{`Still there? You will be signed out at ${end}.`}</p>
              <button className="first" onClick={() => void stay()}>
                Stay signed in
              </button>
            </>
          ) : (
            <p>{`The session ends at ${end}, because it has lasted 8 hours. To go on, open the portal with a new link.`}</p>
          )}
        </div>
      )}
      {stayed.agoMs() < 10_000 && <p>You are still signed in.</p>}
      {isLastMinute && failure && <Problem failure={failure} />}
    </div>
  );
}
