/** Where the dashboard is served, with a slash at its end. The service states it in the page's base element. */
export const appUrl = new URL('.', document.baseURI);

/** The path below which the router's routes are, without a slash at its end. */
export const appPath = appUrl.pathname.replace(/\/$/, '');

/** The service's address, as a customer's program needs it if the operator has set no other. */
export const serviceUrl = new URL('..', appUrl);

export const graphqlUrl = new URL('graphql', serviceUrl);
