/** Hands a file to the reader's browser. */
export function download(name: string, parts: readonly string[], type = 'text/csv;charset=utf-8'): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser needs the address until the download has begun.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Such as "photo-lab-licenses-2026-11-23.csv". */
export const fileName = (...parts: readonly string[]): string =>
  `${[...parts, new Date().toISOString().slice(0, 10)]
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')}.csv`;
