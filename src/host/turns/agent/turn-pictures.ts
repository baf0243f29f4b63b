import { TIMED_OUT, withTimeout } from '../../../lib/timeout.ts';
import type { TurnPicture } from '../../../sandbox/sandbox.ts';
import type { Group, StoredMessage } from '../../../store/store.ts';
import { type FetchAttachment, shownId, sizeInWords } from '../../attachments/attachments.ts';
import type { LogPort, StorePort } from '../../contracts/ports.ts';

export type TurnPicturesOptions = StorePort &
  LogPort & { readonly fetchAttachment: FetchAttachment };

/** The newest pictures of so many messages are shown to a model; of the others it can ask for the files. */
const MOST = 10;
/** The most that channels fetch. */
const MAX_BYTES = 20_000_000;
/** An answer does not wait for longer, for one of them and for all. */
const ONE_MS = 20_000;
const ALL_MS = 60_000;

type WantedPicture = Pick<StoredMessage, 'id'> & { readonly sizeBytes: number | null };

/** Returns the messages that came with a picture, oldest first; only the newest if there are many. */
export function messagesWithPictures(
  { store }: StorePort,
  jid: string,
  messages: readonly StoredMessage[],
): readonly WantedPicture[] {
  const wanted = messages.flatMap(({ id }) => {
    const picture = store.attachments.of(jid, id).find(isPicture);
    return picture === undefined ? [] : [{ id, sizeBytes: picture.sizeBytes }];
  });
  return wanted.slice(-MOST);
}

/**
 * Fetches pictures to where the group's agent sees them. Never rejects: a picture that cannot be fetched has a
 * reason.
 */
export async function fetchPictures(
  { fetchAttachment, log }: TurnPicturesOptions,
  group: Group,
  wanted: readonly WantedPicture[],
): Promise<readonly TurnPicture[]> {
  async function fetch({ id, sizeBytes }: WantedPicture): Promise<TurnPicture> {
    const message = shownId(id) ?? 'of a strange id';
    const refused = (problem: string): TurnPicture => ({ message, path: null, problem });
    if (sizeBytes !== null && sizeBytes > MAX_BYTES) {
      return refused(
        `it has ${sizeInWords(sizeBytes)}, and ${sizeInWords(MAX_BYTES)} are the most`,
      );
    }
    try {
      const file = await withTimeout(fetchAttachment(group, id, ONE_MS), ALL_MS);
      if (file === TIMED_OUT) return refused('it could not be fetched within a minute');
      return { message, path: file.path, problem: null };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn('a picture could not be fetched', { group: group.folder, reason });
      return refused(`it could not be fetched: ${reason.replace(/\.$/, '')}`);
    }
  }
  return await Promise.all(wanted.map(fetch));
}

function isPicture({
  kind,
  mimeType,
}: {
  readonly kind: string;
  readonly mimeType: string | null;
}) {
  if (kind === 'image' || kind === 'sticker') return true;
  return kind === 'document' && mimeType?.startsWith('image/') === true;
}
