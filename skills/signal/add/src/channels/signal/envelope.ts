import { z } from 'zod';

/*
 * What signal-cli tells of a message. Its fields are null or absent where there is nothing.
 */

const Mention = z.looseObject({
  number: z.string().nullish(),
  uuid: z.string().nullish(),
  name: z.string().nullish(),
  start: z.int(),
  length: z.int(),
});

const FarAttachment = z.looseObject({
  contentType: z.string().nullish(),
  filename: z.string().nullish(),
  id: z.string().nullish(),
  size: z.number().nullish(),
});

const Quote = z.looseObject({
  id: z.number(),
  authorNumber: z.string().nullish(),
  authorUuid: z.string().nullish(),
  text: z.string().nullish(),
  mentions: z.array(Mention).nullish(),
  attachments: z
    .array(z.looseObject({ contentType: z.string().nullish() }))
    .max(100)
    .nullish()
    .catch(null),
});

const Reaction = z.looseObject({
  emoji: z.string(),
  targetAuthorNumber: z.string().nullish(),
  targetAuthorUuid: z.string().nullish(),
  targetSentTimestamp: z.number(),
  isRemove: z.boolean().default(false),
});

const DataMessage = z.looseObject({
  timestamp: z.number(),
  message: z.string().nullish(),
  viewOnce: z.boolean().nullish(),
  isExpirationUpdate: z.boolean().nullish(),
  reaction: Reaction.nullish(),
  quote: Quote.nullish(),
  mentions: z.array(Mention).nullish(),
  attachments: z.array(FarAttachment).nullish(),
  sticker: z.looseObject({}).nullish(),
  remoteDelete: z.looseObject({ timestamp: z.number() }).nullish(),
  contacts: z
    .array(
      z.looseObject({
        name: z
          .looseObject({
            display: z.string().nullish(),
            given: z.string().nullish(),
            family: z.string().nullish(),
          })
          .nullish(),
        phone: z.array(z.looseObject({ value: z.string().nullish() })).nullish(),
      }),
    )
    .nullish(),
  pollCreate: z
    .looseObject({ question: z.string(), options: z.array(z.string()).max(100) })
    .nullish(),
  pollTerminate: z.looseObject({}).nullish(),
  pollVote: z.looseObject({}).nullish(),
  payment: z.looseObject({}).nullish(),
  storyContext: z.looseObject({}).nullish(),
  groupInfo: z
    .looseObject({
      groupId: z.string(),
      groupName: z.string().nullish(),
      type: z.string().nullish(),
    })
    .nullish(),
});

const EditMessage = z.looseObject({
  targetSentTimestamp: z.number(),
  dataMessage: DataMessage,
});

const Envelope = z.looseObject({
  sourceNumber: z.string().nullish(),
  sourceUuid: z.string().nullish(),
  sourceName: z.string().nullish(),
  timestamp: z.number(),
  dataMessage: DataMessage.nullish(),
  editMessage: EditMessage.nullish(),
  syncMessage: z
    .looseObject({
      // Of a message in a group it has no destination; of an edit, no text of its own.
      sentMessage: DataMessage.partial({ timestamp: true })
        .extend({
          destinationNumber: z.string().nullish(),
          destinationUuid: z.string().nullish(),
          editMessage: EditMessage.nullish(),
        })
        .nullish(),
    })
    .nullish(),
});

/** Parts of a message that say nothing, or only something about another part. */
const BESIDE_CONTENT = new Set([
  'expiresInSeconds',
  'giftBadge',
  'isProfileKeyUpdate',
  'previews',
  'pinMessage',
  'profileKey',
  'textStyles',
  'unpinMessage',
  'adminDelete',
]);

/** Returns the name of a part of a message that nobody has heard of; null where there is none. */
export function unknownPartOf(data: DataMessage): string | null {
  const isNews = ([name, value]: readonly [string, unknown]) =>
    typeof value === 'object' &&
    value !== null &&
    !(name in DataMessage.shape) &&
    !BESIDE_CONTENT.has(name);
  return Object.entries(data).find(isNews)?.[0] ?? null;
}

/** An event of signal-cli. */
export const SignalEvent = z.looseObject({
  account: z.string().nullish(),
  envelope: Envelope.nullish(),
  exception: z.looseObject({ message: z.string().nullish(), type: z.string().nullish() }).nullish(),
});

export type Envelope = z.output<typeof Envelope>;
export type DataMessage = z.output<typeof DataMessage>;
export type FarAttachment = z.output<typeof FarAttachment>;
export type Mention = z.output<typeof Mention>;
