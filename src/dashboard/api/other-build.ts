import { appUrl } from './paths.ts';

/** Whether the service has other files than those that this page was made of: it was upgraded meanwhile. */
async function isOutdated(): Promise<boolean> {
  const page = await fetch(appUrl, { headers: { Accept: 'text/html' } })
    .then((answer) => (answer.ok ? answer.text() : null))
    .catch(() => null);
  const own = document.querySelector('script')?.getAttribute('src') ?? '';
  return page !== null && !page.includes(own);
}

/**
 * After an upgrade of the service, parts of the dashboard that were not loaded yet are gone. The page is then loaded
 * anew. While the service does not answer, it stays, because there would be nothing in its place.
 */
export function reloadAfterUpgrade(): void {
  window.addEventListener('vite:preloadError', ({ payload }) => {
    // In these words, the router does not take it for a reason to load the page anew at any rate.
    payload.message = 'A part of the dashboard could not be loaded. Load the page anew, then try again.';
    void isOutdated().then((outdated) => outdated && location.reload());
  });
}
