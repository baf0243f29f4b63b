import type { SignalDataSet, SignalDataTypeMap, SignalKeyStore } from '@whiskeysockets/baileys';

/** Returns a store of Signal keys that lives as long as its peer. */
export function memoryKeys(): SignalKeyStore {
  const kept = new Map<string, unknown>();
  return {
    get<T extends keyof SignalDataTypeMap>(type: T, ids: string[]) {
      const found = ids
        .map((id) => [id, kept.get(`${type}/${id}`)] as const)
        .filter(([, value]) => value !== undefined);
      // What is kept under a type was set under it.
      return Object.fromEntries(found) as { [id: string]: SignalDataTypeMap[T] };
    },
    set(data: SignalDataSet) {
      for (const [type, values] of Object.entries(data)) {
        for (const [id, value] of Object.entries(values)) {
          if (value === null) kept.delete(`${type}/${id}`);
          else kept.set(`${type}/${id}`, value);
        }
      }
    },
  };
}
