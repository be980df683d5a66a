CREATE TYPE "SecurityActorKind" AS ENUM ('session', 'api_key', 'client', 'operator', 'system');

-- Null in entries that are older, or that the version before writes.
ALTER TABLE "security_log"
    ADD COLUMN "actor_kind" "SecurityActorKind",
    ADD COLUMN "actor_id" UUID,
    ADD COLUMN "actor_name" TEXT;
