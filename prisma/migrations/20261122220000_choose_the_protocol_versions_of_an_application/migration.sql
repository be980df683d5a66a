-- Which versions of the sealed protocol an application accepts. The default is a constant, so no row is rewritten; the
-- previous version does not read the column and accepts both.
CREATE TYPE "ApplicationProtocol" AS ENUM ('any', 'v2_only');

ALTER TABLE "applications" ADD COLUMN "protocol" "ApplicationProtocol" NOT NULL DEFAULT 'any';
