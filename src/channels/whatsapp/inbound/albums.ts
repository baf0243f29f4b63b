import type { proto, WAMessage } from '@whiskeysockets/baileys';
import type { ChannelClock } from '../../channel.ts';
import type { ReadMessage } from './message.ts';

/** A message, and the raw message that it was read from. */
export type AlbumPart = { readonly read: ReadMessage; readonly raw: WAMessage };

/** The place of a message in an album: it announces how many pictures and videos follow, or is one of them. */
export type AlbumPlace =
  | { readonly kind: 'announcement'; readonly parts: number }
  | { readonly kind: 'part'; readonly of: string };

/** `MEDIA_ALBUM` of `MessageAssociation.AssociationType`. */
const MEDIA_ALBUM = 1;
/** No part comes for so long: what is there is handed over. */
const SILENCE_MS = 5_000;
/** A phone lets people choose fewer. */
const MOST_PARTS = 200;
const MOST_ANNOUNCED = 500;

/** Returns a message's place in an album; null if it is in none. */
export function albumPlaceOf(message: proto.IMessage | null | undefined): AlbumPlace | null {
  if (!message) return null;
  const { albumMessage, associatedChildMessage, messageContextInfo } = message;
  if (albumMessage) {
    const { expectedImageCount: images, expectedVideoCount: videos } = albumMessage;
    return { kind: 'announcement', parts: (images ?? 0) + (videos ?? 0) };
  }
  const inner = associatedChildMessage?.message?.messageContextInfo;
  const association =
    (messageContextInfo ?? inner)?.messageAssociation ?? inner?.messageAssociation;
  const of = association?.parentMessageKey?.id;
  return association?.associationType === MEDIA_ALBUM && of ? { kind: 'part', of } : null;
}

/** The pictures that a person sends together: each is a message of its own, and all are one turn. */
export class Albums {
  readonly #clock: Pick<ChannelClock, 'pause'>;
  readonly #signal: AbortSignal;
  /** By the sender and the id of the announcement. */
  readonly #announced = new Map<string, number>();
  readonly #open = new Map<string, OpenAlbum>();

  constructor(clock: Pick<ChannelClock, 'pause'>, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
  }

  announce(name: string, parts: number): void {
    const [oldest] = this.#announced.keys();
    if (this.#announced.size >= MOST_ANNOUNCED && oldest !== undefined) {
      this.#announced.delete(oldest);
    }
    this.#announced.set(name, Math.min(parts, MOST_PARTS));
  }

  /**
   * Adds a part. Returns what resolves with the whole album for the first one, and null for those that follow: they
   * are in it.
   */
  add(name: string, part: AlbumPart): (() => Promise<readonly AlbumPart[]>) | null {
    const known = this.#open.get(name);
    if (known !== undefined) {
      known.parts.push(part);
      known.onMore();
      return null;
    }
    const album: OpenAlbum = { parts: [part], onMore: () => {} };
    this.#open.set(name, album);
    return async () => {
      await this.#gather(album, this.#announced.get(name) ?? MOST_PARTS);
      this.#open.delete(name);
      this.#announced.delete(name);
      return inOneTurn(album.parts);
    };
  }

  /** Resolves when all parts are there, no more of them come, or the channel closes. */
  async #gather(album: OpenAlbum, expected: number): Promise<void> {
    while (album.parts.length < expected && !this.#signal.aborted) {
      const { promise: isMore, resolve } = Promise.withResolvers<'more'>();
      const stop = new AbortController();
      album.onMore = () => resolve('more');
      const silence = this.#clock
        .pause(SILENCE_MS, AbortSignal.any([this.#signal, stop.signal]))
        .then(() => 'silence' as const);
      const outcome = await Promise.race([isMore, silence]);
      stop.abort();
      if (outcome === 'silence') return;
    }
  }
}

type OpenAlbum = { readonly parts: AlbumPart[]; onMore: () => void };

/** Lets one part ask, with all others before it: the one with words, or else the last. */
function inOneTurn(parts: readonly AlbumPart[]): readonly AlbumPart[] {
  const asking = parts.find(({ read }) => read.message.text !== '') ?? parts.at(-1);
  if (asking === undefined) return [];
  const others = parts
    .filter((one) => one !== asking)
    .map(({ read, raw }) => ({
      raw,
      read: { ...read, message: { ...read.message, isContext: true } },
    }));
  return [...others, asking];
}
