import { ShortLivedMap } from '@deedwire/store';
import type { EventId } from '../kernel/ids.ts';
import type { EventsById, StoredEvent } from './renderer.ts';

interface AnnouncedEvent {
  readonly id: EventId;
  /** Undefined: there is no such event, or it could not be read. */
  readonly read: Promise<StoredEvent | undefined>;
  /** It was announced before the last call of `age`. */
  isOld: boolean;
}

/** Announcements beyond this number are ignored. While so many wait, a statement reads many events. */
const announcedMax = 16;

/** Events that are read beside the queue, because their ids are known before their entries. */
export class AnnouncedEvents {
  readonly #read: (id: EventId) => Promise<StoredEvent | undefined>;
  #announced: AnnouncedEvent[] = [];

  /** @param read undefined: there is no such event */
  constructor(read: (id: EventId) => Promise<StoredEvent | undefined>) {
    this.#read = read;
  }

  announce(id: EventId): void {
    if (this.#announced.length >= announcedMax || this.#announced.some((announced) => announced.id === id)) return;
    this.#announced.push({ id, read: this.#read(id).catch(() => undefined), isOld: false });
  }

  /** Returns all of these events, or null if one was not announced or not found. Returns an event once. */
  async take(ids: readonly EventId[]): Promise<EventsById | null> {
    const taken = this.#announced.filter(({ id }) => ids.includes(id));
    if (taken.length > 0) this.#announced = this.#announced.filter(({ id }) => !ids.includes(id));
    if (taken.length < ids.length) return null;
    const events = new ShortLivedMap<EventId, StoredEvent>();
    for (const event of await Promise.all(taken.map(({ read }) => read))) {
      if (event !== undefined) events.set(event.id, event);
    }
    return events.size === ids.length ? events : null;
  }

  /** Call it at regular intervals. Events that were announced before the last call are forgotten. */
  age(): void {
    this.#announced = this.#announced.filter(({ isOld }) => !isOld);
    for (const announced of this.#announced) announced.isOld = true;
  }
}
