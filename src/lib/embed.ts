/** Texts that are to become vectors. */
export type EmbedRequest = {
  /** The model's name with the prefix of its provider, as in `MODEL`: `openai/text-embedding-3-small`. */
  readonly model: string;
  /** At least one, none of them empty. */
  readonly texts: readonly string[];
  /** The longest wait for the server, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
};

/**
 * Vectors in the order of the texts, all of one length; or a sentence that says why there are none. A text that the
 * model does not understand, such as one in another language, has null.
 */
export type EmbedResult =
  | { readonly kind: 'embedded'; readonly vectors: readonly (Float32Array | null)[] }
  | {
      readonly kind: 'failed';
      readonly message: string;
      /** True where the server has read the texts and does not take them: fewer or shorter ones may pass. */
      readonly isRefused: boolean;
    };

/** Asks a model's server for vectors. Never rejects. */
export type Embed = (request: EmbedRequest) => Promise<EmbedResult>;

/** Asks in the name of a group's folder, whose budget pays. Never rejects. */
export type EmbedForGroup = (
  request: EmbedRequest & { readonly folder: string },
) => Promise<EmbedResult>;
