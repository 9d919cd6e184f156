<?php
// Authentication plugin that reads the user from REMOTE_USER on each request, without a session of its own.

use dokuwiki\Extension\AuthPlugin;

class auth_plugin_authremoteuser extends AuthPlugin
{
    private string $user;

    public function __construct()
    {
        parent::__construct();
        $this->user = $_SERVER['REMOTE_USER'] ?? '';
        $this->cando['external'] = true;
        $this->cando['logout'] = false;
    }

    public function trustExternal($user, $pass, $sticky = false)
    {
        global $USERINFO;
        if ($this->user === '') return false;
        $USERINFO = $this->getUserData($this->user);
        $_SERVER['REMOTE_USER'] = $this->user;
        return true;
    }

    // Only the current user is known.
    public function getUserData($user, $requireGroups = true)
    {
        if ($user !== $this->user) return false;
        return [
            'name' => ($_SERVER['REMOTE_NAME'] ?? '') ?: $user,
            'mail' => $_SERVER['REMOTE_EMAIL'] ?? '',
            'grps' => ['user'],
        ];
    }
}
