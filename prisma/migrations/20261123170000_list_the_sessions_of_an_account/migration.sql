-- CreateTable
CREATE TABLE "account_sessions" (
    "id" UUID NOT NULL,
    "developer_id" UUID NOT NULL,
    "session_version" INTEGER NOT NULL,
    "ip" TEXT,
    "country" TEXT,
    "user_agent" TEXT,
    "confirmed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "account_sessions_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "account_sessions_user_agent_is_short" CHECK (char_length("user_agent") <= 300)
);

-- CreateIndex
CREATE INDEX "account_sessions_developer_id_id_idx" ON "account_sessions"("developer_id", "id");

-- CreateIndex
CREATE INDEX "account_sessions_expires_at_idx" ON "account_sessions"("expires_at");

-- AddForeignKey
ALTER TABLE "account_sessions" ADD CONSTRAINT "account_sessions_developer_id_fkey" FOREIGN KEY ("developer_id") REFERENCES "developers"("id") ON DELETE CASCADE ON UPDATE CASCADE;
